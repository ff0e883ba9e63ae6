// SPDX-License-Identifier: Apache-2.0

// The table of scopes: the rows of coroscope table, with the evidence of each.

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <coroscope/analysis/table.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "answer_tables.hpp"
#include "row_evidence.hpp"

namespace coroscope::analysis::inline pages {
namespace {

struct scope_column {
    std::string_view key;
    std::string_view heading;
    std::string_view kind;
};

/// The columns that the page shows, in their order.
std::string scope_columns(const table_input& input) {
    std::vector<scope_column> columns{{"name", "Scope", "text"},
                                      {"count", "Calls", "count"},
                                      {"wall_ns", "Wall", "time"},
                                      {"total_ns", "Running", "time"},
                                      {"self_ns", "Self", "time"}};
    if (input.has_states)
        columns.insert(columns.end(), {{"self_on_cpu_ns", "Self on-CPU", "time"},
                                       {"self_blocked_ns", "Self blocked", "time"},
                                       {"self_preempted_ns", "Self preempted", "time"}});
    if (input.has_tasks)
        columns.insert(columns.end(), {{"suspended_ns", "Suspended", "time"},
                                       {"queued_ns", "Queued", "time"},
                                       {"waiting_ns", "Waiting", "time"}});
    columns.insert(columns.end(), {{"min_wall_ns", "Shortest", "time"},
                                   {"max_wall_ns", "Longest", "time"},
                                   {"category", "Category", "text"}});
    std::string out;
    for (const scope_column& each : columns)
        out += fmt::format("{}{{\"key\":\"{}\",\"heading\":\"{}\",\"kind\":\"{}\"}}",
                           out.empty() ? "" : ",", each.key, each.heading, each.kind);
    return '[' + out + ']';
}

/// The evidence of each row, by the row's place in the input.
class scope_evidence {
public:
    scope_evidence(const trace& from, const std::vector<function_event_avg>& rows)
        : from_(from), evidence_(rows.size()) {
        for (std::size_t row = 0; row < rows.size(); ++row)
            rows_of_names_.emplace(key_of(rows[row].name, rows[row].category), row);
        for (const event& each : from.events) {
            const std::size_t row = row_of(each);
            if (row < evidence_.size())
                evidence_[row].add(
                    {each.start_ns, each.end_ns - each.start_ns, each.task, each.thread});
        }
    }

    [[nodiscard]] const row_evidence& operator[](std::size_t row) const { return evidence_[row]; }

private:
    static std::string key_of(std::string_view name, std::string_view category) {
        std::string key(name);
        return (key += '\0').append(category);
    }

    // Few names and sites occur, so their rows are kept.
    std::size_t row_of(const event& scope) {
        const std::uint64_t pair = std::uint64_t{scope.name} << 32U | scope.site;
        const auto [known, is_new] = rows_.try_emplace(pair, evidence_.size());
        if (is_new && scope.name < from_.strings.size()) {
            const bool has_site = scope.site < from_.sites.size();
            const auto found = rows_of_names_.find(
                key_of(from_.strings[scope.name],
                       has_site ? std::string_view(from_.sites[scope.site].category) : ""));
            if (found != rows_of_names_.end()) known->second = found->second;
        }
        return known->second;
    }

    const trace& from_;
    std::vector<row_evidence> evidence_;
    std::unordered_map<std::string, std::size_t> rows_of_names_;
    std::unordered_map<std::uint64_t, std::size_t> rows_;  // by name and site
};

/// Sorts the rows as the command does, and keeps as many as the page shows.
void arrange_scopes(std::vector<function_event_avg>& rows) {
    std::ranges::stable_sort(rows, std::ranges::greater(), &function_event_avg::wall_ns);
    if (rows.size() > static_cast<std::size_t>(most_answer_rows))
        rows.resize(static_cast<std::size_t>(most_answer_rows));
}

std::string link_of_scope(const trace& from, const function_event_avg& row,
                          const row_evidence& evidence) {
    std::string out = "{\"name\":";
    append_json_string(out, row.name);
    if (row.site < from.sites.size()) out += fmt::format(",\"site\":{}", row.site);
    return out + fmt::format(",\"histogram\":{},\"longest\":{}}}", evidence.lengths().json(),
                             evidence.longest_json(from));
}

/// Returns the member "rows" of the table's JSON. No name has a line feed, so the first line that
/// ends a list at its level ends the rows.
std::string_view rows_of_table(std::string_view json) {
    constexpr std::string_view begin = "\"rows\": [";
    constexpr std::string_view end = "\n  ]";
    const std::size_t first = json.find(begin);
    if (first == std::string_view::npos) return "[]";
    json.remove_prefix(first + begin.size() - 1);
    const std::size_t last = json.find(end);
    return last == std::string_view::npos ? "[]" : json.substr(0, last + end.size());
}

}  // namespace

std::string scope_answer_json(const trace& from) {
    table_input input = table_of(from);
    const std::size_t all = input.rows.size();
    arrange_scopes(input.rows);
    const scope_evidence evidence(from, input.rows);
    std::string links;
    for (std::size_t row = 0; row < input.rows.size(); ++row) {
        if (row != 0) links += ",\n";
        links += link_of_scope(from, input.rows[row], evidence[row]);
    }
    const auto table = table_json(input, {.row_limit = -1});
    return fmt::format("{{\"columns\":{},\"rows\":{},\"links\":[{}],\"of\":{},\"total_ns\":{}}}",
                       scope_columns(input), rows_of_table(table ? *table : std::string()), links,
                       all, input.self_cpu_time_total_ns);
}

}  // namespace coroscope::analysis::inline pages
