// SPDX-License-Identifier: Apache-2.0

// What a recording ends with: one screen that says where the time went.

#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "places.hpp"
#include "shell_path.hpp"
#include "split_text.hpp"
#include "utf8.hpp"

namespace coroscope::analysis {
namespace {

/// The listing with these of its columns only, and at most `rows` rows.
listing excerpt(const listing& list, std::initializer_list<std::string_view> keys,
                std::int64_t rows) {
    listing out;
    std::vector<std::size_t> kept;
    for (const std::string_view key : keys) {
        for (std::size_t at = 0; at < list.columns.size(); ++at) {
            if (list.columns[at].key == key) kept.push_back(at);
        }
    }
    for (const std::size_t at : kept) out.columns.push_back(list.columns[at]);
    for (const auto& row : list.rows) {
        if (rows >= 0 && out.rows.size() == static_cast<std::size_t>(rows)) break;
        out.rows.emplace_back();
        for (const std::size_t at : kept) out.rows.back().push_back(row[at]);
    }
    return out;
}

/// "the first 10 of 36, by wall time"; empty where all are shown.
std::string cut_note(std::size_t shown, std::size_t of, std::string_view order) {
    return shown < of ? fmt::format("the first {} of {}, by {}", shown, of, order) : std::string();
}

std::string section(std::string_view heading, const listing& list, std::size_t of,
                    std::string_view order) {
    if (list.rows.empty()) return {};
    const std::string note = cut_note(list.rows.size(), of, order);
    return fmt::format("\n{}{}\n\n{}", heading, note.empty() ? note : " (" + note + ')',
                       to_text(list));
}

std::string table_section(const trace& loaded, const summary_options& options) {
    table_input input = table_of(loaded);
    input.health = {};  // stands at the end, behind everything that it qualifies
    const auto text = table(input, {.sort_by = "wall", .row_limit = options.table_rows});
    if (!text) return {};
    const std::size_t shown =
        options.table_rows < 0 ? input.rows.size() : static_cast<std::size_t>(options.table_rows);
    const std::string note = cut_note(shown, input.rows.size(), "wall time");
    return note.empty() ? *text : *text + "Scopes: " + note + '\n';
}

std::string task_section(const trace& loaded, const summary_options& options) {
    const listing all = list_task_sites(loaded, task_statistics(loaded));
    const listing shown = excerpt(all,
                                  {"name", "count", "p50_ns", "p99_ns", "max_ns", "running_ns",
                                   "suspended_ns", "queued_ns", "waiting_ns", "place"},
                                  options.task_rows);
    return section("Tasks by spawn site", shown, all.rows.size(), "wall time");
}

std::string await_section(const trace& loaded, const summary_options& options) {
    const listing all = list_await_sites(loaded, await_statistics(loaded));
    const listing shown =
        excerpt(all, {"name", "scope", "count", "total_ns", "max_ns", "place"}, options.await_rows);
    return section("Where tasks waited", shown, all.rows.size(), "total time");
}

std::string part_text(const trace& loaded, const request_part& part) {
    const std::string place = render::site_place(loaded, part.site);
    const std::string name = render::printable(part.label.empty() ? "unknown" : part.label);
    const std::string where =
        place.empty() ? name : fmt::format("{} at {}", name, render::printable(place));
    return part.kind == part_kind::self ? "running " + where : where;
}

bool is_unseen(const request_part& part) {
    return part.kind == part_kind::await && part.site == none;
}

/// What took most of it. That no thread was free says more than the await after which none was.
std::string cause_text(const trace& loaded, const slow_request& request) {
    const std::int64_t half = request.wall_ns / 2;
    if (request.time.queued_ns > half) return ", most of it queued for a thread";
    if (request.parts.empty()) return {};
    const request_part& largest = request.parts.front();
    const bool most = largest.wall_ns() > half;
    if (!most && request.time.running_ns > half) return ", most of it running";
    const std::string share = most ? "most of it in" : "the largest part in";
    if (is_unseen(largest)) return fmt::format(", {} awaits that nobody saw", share);
    return fmt::format(", {} {}", share, part_text(loaded, largest));
}

/// How to see more of it.
std::string task_text_of(const trace& loaded, const slow_request& request,
                         std::string_view trace_path) {
    if (request.task >= loaded.tasks.size()) return {};
    const std::uint64_t id = loaded.tasks[request.task].id;
    if (trace_path.empty()) return fmt::format(", task {}", id);
    return fmt::format(", coroscope tasks {} --task {}", render::shell_path(trace_path), id);
}

}  // namespace

std::string slow_request_sentence(const trace& loaded, const slow_request& request) {
    return slow_request_sentence(loaded, request, {});
}

std::string slow_request_sentence(const trace& loaded, const slow_request& request,
                                  std::string_view trace_path) {
    return fmt::format("slowest request: {}{} ({}, one of {}; from {} on{})",
                       render::split_text(request.wall_ns, request.time),
                       cause_text(loaded, request), render::printable(request.name),
                       request.instances, format_span(request.start_ns),
                       task_text_of(loaded, request, trace_path));
}

std::string summary(const trace& loaded, const summary_options& options) {
    return summary(loaded, options, {});
}

std::string summary(const trace& loaded, const summary_options& options,
                    std::string_view trace_path) {
    std::string text = table_section(loaded, options);
    text += task_section(loaded, options);
    text += await_section(loaded, options);
    if (const auto request = slowest_request(loaded)) {
        text += '\n' + slow_request_sentence(loaded, *request, trace_path) + '\n';
    }
    if (text.empty())
        text = "Nothing was recorded: no scope and no task ran while the session did.\n";
    return text + loss_notes(loaded);
}

}  // namespace coroscope::analysis
