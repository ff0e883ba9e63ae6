// SPDX-License-Identifier: Apache-2.0

// The nodes of the flame graphs, and the enumerations of all tables.

#include "timeline_tables.hpp"

#include <array>

#include <coroscope/analysis/lock_statistics.hpp>

#include "../export/profiles/scope_index.hpp"
#include "../export/profiles/stack_times.hpp"
#include "../export/profiles/stack_tree.hpp"
#include "../text/utf8.hpp"
#include "../words/places.hpp"

namespace coroscope::analysis::inline pages {
namespace {

/// The kinds of time of a node, and their columns.
constexpr std::array<std::pair<path_kind, std::string_view>, 7> frame_kinds{{
    {path_kind::running, "running_ns"},
    {path_kind::on_cpu, "on_cpu_ns"},
    {path_kind::blocked, "blocked_ns"},
    {path_kind::preempted, "preempted_ns"},
    {path_kind::queued, "queued_ns"},
    {path_kind::suspended, "suspended_ns"},
    {path_kind::waiting, "waiting_ns"},
}};
using frame_times = std::array<std::int64_t, frame_kinds.size()>;

/// A node of the page. Parents come before their children.
struct frame_row {
    std::int64_t parent = -1;
    std::int64_t name = -1;
    std::int64_t site = -1;
    frame_times times{};
};

class frame_rows {
public:
    frame_rows(const trace& from, page_names& names) : from_(from), names_(names), stacks_(from) {
        visit_stack_times(from, scope_index(from), stacks_,
                          [this](std::uint32_t node, path_kind kind, std::int64_t time_ns) {
                              add(node, kind, time_ns);
                          });
        times_.resize(stacks_.frames().size());
    }

    /// Returns the nodes. Of very many, those with little time are one node at each parent.
    std::vector<frame_row> take() {
        const std::vector<std::int64_t> totals = totals_of_nodes();
        constexpr std::size_t most_frames = 100'000;
        const std::int64_t least_ns = totals.size() > most_frames ? totals[0] / 20'000 : 0;
        std::vector<std::int64_t> row_of(totals.size(), -1);
        for (std::uint32_t node = 0; node < totals.size(); ++node) {
            if (node != 0 && totals[node] == 0) continue;
            if (node == 0 || totals[node] >= least_ns) {
                row_of[node] = add_row(node, row_of);
            } else {
                row_of[node] = small_row(row_of[stacks_.frames().parent_of(node)]);
                add_times(row_of[node], node);
            }
        }
        return std::move(rows_);
    }

private:
    void add(std::uint32_t node, path_kind kind, std::int64_t time_ns) {
        if (node >= times_.size()) times_.resize(stacks_.frames().size());
        for (std::size_t at = 0; at < frame_kinds.size(); ++at)
            if (frame_kinds[at].first == kind) add_to(times_[node][at], time_ns);
    }

    [[nodiscard]] std::vector<std::int64_t> totals_of_nodes() {
        std::vector<std::int64_t> totals(times_.size());
        for (std::uint32_t node = static_cast<std::uint32_t>(times_.size()); node-- > 0;) {
            for (const std::int64_t time_ns : times_[node]) add_to(totals[node], time_ns);
            if (node != 0) add_to(totals[stacks_.frames().parent_of(node)], totals[node]);
        }
        return totals;
    }

    std::int64_t add_row(std::uint32_t node, const std::vector<std::int64_t>& row_of) {
        frame_row row;
        if (node != 0) {
            const frame_tree& frames = stacks_.frames();
            const std::uint32_t frame = frames.frame_of(node);
            row.parent = row_of[frames.parent_of(node)];
            row.name = names_.number_of(frames.text_of(frame));
            row.site = reference(frames.site_of(frame), from_.sites.size());
        }
        row.times = times_[node];
        rows_.push_back(row);
        small_rows_.push_back(-1);
        return static_cast<std::int64_t>(rows_.size()) - 1;
    }

    /// The row of the small nodes below a row; the row itself if it is one of these.
    std::int64_t small_row(std::int64_t parent) {
        const auto at = static_cast<std::size_t>(parent);
        if (small_rows_[at] >= 0) return small_rows_[at];
        const auto row = static_cast<std::int64_t>(rows_.size());
        small_rows_[at] = row;
        rows_.push_back({parent, names_.number_of("[smaller frames]"), -1, {}});
        small_rows_.push_back(row);
        return row;
    }

    void add_times(std::int64_t row, std::uint32_t node) {
        for (std::size_t at = 0; at < frame_kinds.size(); ++at)
            add_to(rows_[static_cast<std::size_t>(row)].times[at], times_[node][at]);
    }

    const trace& from_;
    page_names& names_;
    stack_tree stacks_;
    std::vector<frame_times> times_;  // by node
    std::vector<frame_row> rows_;
    std::vector<std::int64_t> small_rows_;  // by row
};

template <class Name>
void add_kinds(std::string& out, std::string_view name, int count, const Name& name_of_value) {
    out += out.empty() ? "{" : ",\n";
    append_json_string(out, name);
    out += ":[";
    for (int value = 0; value < count; ++value) {
        out += value == 0 ? "" : ",";
        append_json_string(out, name_of_value(value));
    }
    out += ']';
}

template <std::size_t Count>
void add_kinds(std::string& out, std::string_view name,
               const std::array<std::string_view, Count>& names) {
    add_kinds(out, name, static_cast<int>(Count),
              [&](int value) { return names[static_cast<std::size_t>(value)]; });
}

}  // namespace

void write_frame_table(const trace& from, std::string_view table, table_target to) {
    const bool has_sites = table == "frames";  // the sites of another trace are not on the page
    const std::vector<frame_row> rows = frame_rows(from, to.names).take();
    to.tables.begin(table, rows.size());
    to.tables.column({"parent", column_coding::back, table},
                     [&](std::size_t row) { return rows[row].parent; });
    to.tables.column({"name", column_coding::maybe, "names"},
                     [&](std::size_t row) { return rows[row].name; });
    to.tables.column({"site", column_coding::maybe, "sites"},
                     [&](std::size_t row) { return has_sites ? rows[row].site : -1; });
    for (std::size_t kind = 0; kind < frame_kinds.size(); ++kind)
        to.tables.column({frame_kinds[kind].second},
                         [&](std::size_t row) { return rows[row].times[kind]; });
    to.tables.end();
}

std::string kinds_json() {
    std::string out;
    add_kinds(out, "task_states", 10,
              [](int value) { return state_name(static_cast<task_state>(value)); });
    add_kinds(out, "outcomes", 5, [](int value) {
        return outcome_name(static_cast<coroscope::trace::await_outcome>(value));
    });
    add_kinds(out, "path_kinds", 9,
              [](int value) { return name_of(static_cast<path_kind>(value)); });
    add_kinds(out, "lock_kinds", 6, [](int value) {
        return name_of_lock(static_cast<coroscope::trace::lock_kind>(value));
    });
    add_kinds(
        out, "wake_reasons",
        std::array<std::string_view, 5>{"unknown", "timer", "cancellation", "result", "noticed"});
    add_kinds(out, "thread_states",
              std::array<std::string_view, 4>{"unknown", "on-CPU", "blocked", "preempted"});
    add_kinds(out, "request_ends",
              std::array<std::string_view, 4>{"completed", "failed", "abandoned", "unfinished"});
    add_kinds(out, "path_edges",
              std::array<std::string_view, 4>{"wake", "end", "lock", "resource"});
    add_kinds(out, "activity_kinds",
              std::array<std::string_view, 11>{"unknown", "kernel", "copy", "set", "runtime call",
                                               "driver call", "synchronization", "overhead",
                                               "allocated", "released", "dependency"});
    return out += '}';
}

}  // namespace coroscope::analysis::inline pages
