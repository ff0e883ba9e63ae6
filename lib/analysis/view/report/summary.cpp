// SPDX-License-Identifier: Apache-2.0

// The summary at the end of a recording: one screen that shows where the time went.

#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <compare>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../model/requests.hpp"
#include "../../text/shell_path.hpp"
#include "../../text/utf8.hpp"
#include "../../words/places.hpp"
#include "../../words/split_text.hpp"
#include "../listing/blocking_text.hpp"

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

/// "the first 10 of 36, by wall time"; empty if all are shown.
std::string cut_note(std::size_t shown, std::size_t of, std::string_view order) {
    return shown < of ? fmt::format("the first {} of {}, by {}", shown, of, order) : std::string();
}

std::string section(std::string_view heading, const listing& list, std::size_t of,
                    std::string_view order, const summary_options& options) {
    if (list.rows.empty()) return {};
    const std::string note = cut_note(list.rows.size(), of, order);
    return fmt::format("\n{}{}\n\n{}", heading, note.empty() ? note : " (" + note + ')',
                       to_text(list, {.line_width = options.line_width}));
}

/// The summary of a trace without scopes and tasks.
std::string empty_text(const trace& loaded) {
    if (loaded.health.being_recorded)
        return "Nothing is in the trace yet: no scope has ended, and no task has run.\n";
    if (!loaded.memory.empty())
        return fmt::format(
            "No scope and no task ran while the session did. Memory records: {}; see "
            "coroscope table --torch\n",
            loaded.memory.size());
    return "Nothing was recorded: no scope and no task ran while the session did.\n";
}

std::string table_section(const trace& loaded, const summary_options& options) {
    table_input input = table_of(loaded);
    input.health = {};  // printed at the end of the summary, because it applies to all sections
    input.other_views = {};  // are further sections
    const auto text = table(
        input,
        {.sort_by = "wall", .row_limit = options.table_rows, .line_width = options.line_width});
    if (!text) return {};
    const std::size_t shown =
        options.table_rows < 0 ? input.rows.size() : static_cast<std::size_t>(options.table_rows);
    const std::string note = cut_note(shown, input.rows.size(), "wall time");
    return note.empty() ? *text : *text + "Scopes: " + note + '\n';
}

std::string task_section(const trace& loaded, const summary_options& options) {
    const listing all = list_task_sites(loaded, task_statistics(loaded));
    const listing shown =
        excerpt(all,
                {"name", "count", "p50_ns", "p99_ns", "max_ns", "running_ns", "on_cpu_ns",
                 "blocked_ns", "preempted_ns", "suspended_ns", "queued_ns", "waiting_ns", "place"},
                options.task_rows);
    return section("Tasks by spawn site", shown, all.rows.size(), "wall time", options);
}

std::string await_section(const trace& loaded, const summary_options& options) {
    const listing all = list_await_sites(loaded, await_statistics(loaded));
    const listing shown =
        excerpt(all, {"name", "scope", "count", "total_ns", "max_ns", "place"}, options.await_rows);
    return section("Where tasks waited", shown, all.rows.size(), "total time", options);
}

/// Empty if the program marks no request.
std::string request_section(const trace& loaded, const summary_options& options) {
    if (loaded.requests.empty()) return {};
    const request_list list = requests_of(loaded);
    const std::vector<request_type> types = statistics_of_requests(loaded, list);
    constexpr std::int64_t rows = 10;
    const listing shown = excerpt(
        list_request_types(loaded, list, types),
        {"name", "count", "per_second", "failed", "late", "p50_ns", "p99_ns", "max_ns", "place"},
        rows);
    return section("Requests", shown, types.size(), "total time", options) + sampling_note(loaded);
}

using coroscope::trace::await_outcome;

constexpr std::size_t most_failures = 10;

/// The tasks of a row: their spawn site, and the site of the last await if that await ended badly.
struct failure_place {
    std::uint32_t spawn_site = none;
    std::uint32_t await_site = none;
    await_outcome outcome = await_outcome::unknown;
    auto operator<=>(const failure_place&) const = default;
};

failure_place failure_of(const trace& loaded, const task_info& task) {
    failure_place place{task.spawn_site};
    if (task.awaits.empty()) return place;
    const await_info last = loaded.awaits[task.awaits.back()];
    if (last.outcome != await_outcome::exception && last.outcome != await_outcome::error)
        return place;
    place.await_site = last.site;
    place.outcome = last.outcome;
    return place;
}

std::string failure_place_text(const trace& loaded, std::uint32_t site) {
    const std::string place = printable(site_place(loaded, site));
    const std::string name = printable(site_name(loaded, site));
    return place.empty() ? name : fmt::format("{} ({})", name, place);
}

std::string line_of_failure(const trace& loaded, const failure_place& place, std::size_t count) {
    std::string text = fmt::format("  {} {}", count, failure_place_text(loaded, place.spawn_site));
    if (place.outcome != await_outcome::unknown)
        text += fmt::format(", after its await {} ended with {}",
                            failure_place_text(loaded, place.await_site),
                            place.outcome == await_outcome::error ? "an error" : "an exception");
    return text + '\n';
}

/// The failed tasks by their spawn site and the await before their end, the most frequent first;
/// empty if no task failed.
std::string failed_tasks_text(const trace& loaded) {
    std::map<failure_place, std::size_t> counts;
    std::size_t all = 0;
    for (const task_info& task : loaded.tasks) {
        if (task.state != task_state::failed) continue;
        ++all;
        ++counts[failure_of(loaded, task)];
    }
    if (all == 0) return {};
    std::vector<std::pair<failure_place, std::size_t>> rows(counts.begin(), counts.end());
    std::ranges::stable_sort(rows, std::ranges::greater(),
                             [](const auto& row) { return row.second; });
    std::string text = fmt::format("\nTasks that an exception ended: {}\n", all);
    for (std::size_t at = 0; at < std::min(rows.size(), most_failures); ++at)
        text += line_of_failure(loaded, rows[at].first, rows[at].second);
    if (rows.size() > most_failures)
        text += fmt::format("  and {} more places\n", rows.size() - most_failures);
    return text;
}

std::string part_text(const trace& loaded, const request_part& part) {
    const std::string place = site_place(loaded, part.site);
    const std::string name = printable(part.label.empty() ? "unknown" : part.label);
    const std::string where =
        place.empty() ? name : fmt::format("{} at {}", name, printable(place));
    return part.kind == part_kind::self ? "running " + where : where;
}

bool is_unseen(const request_part& part) {
    return part.kind == part_kind::await && part.site == none;
}

/// " in futex 0x7f10, held by ...", of the slice of the request that was blocked longest.
std::string blocker_text(const trace& loaded, const slow_request& request) {
    if (request.task >= loaded.tasks.size()) return {};
    const std::int64_t end_ns = saturated_sum(request.start_ns, request.wall_ns);
    slice longest;
    std::int64_t longest_ns = 0;
    for (const std::uint32_t at : loaded.tasks[request.task].slices) {
        if (at >= loaded.slices.size()) continue;
        slice part = loaded.slices[at];
        part.start_ns = std::max(part.start_ns, request.start_ns);
        part.end_ns = std::min(part.end_ns, end_ns);
        const std::int64_t blocked_ns =
            loaded.states.between(part.thread, part.start_ns, part.end_ns).blocked_ns;
        if (blocked_ns <= longest_ns) continue;
        longest_ns = blocked_ns;
        longest = part;
    }
    const std::string sentence =
        blocking_text(loaded).of(longest.thread, longest.start_ns, longest.end_ns);
    return sentence.empty() ? sentence : fmt::format(": {}", sentence);
}

/// The largest part of the request. The lack of a free thread is a better cause than the await
/// before it.
std::string cause_text(const trace& loaded, const slow_request& request) {
    const std::int64_t half = request.wall_ns / 2;
    if (request.time.queued_ns > half) return ", most of it queued for a thread";
    if (request.states.blocked_ns > half)
        return ", most of it blocked" + blocker_text(loaded, request);
    if (request.states.preempted_ns > half) return ", most of it preempted";
    if (request.parts.empty()) return {};
    const request_part& largest = request.parts.front();
    const bool most = largest.wall_ns() > half;
    if (!most && request.time.running_ns > half) return ", most of it running";
    const std::string share = most ? "most of it in" : "the largest part in";
    if (is_unseen(largest)) return fmt::format(", {} unseen awaits", share);
    return fmt::format(", {} {}", share, part_text(loaded, largest));
}

std::string instances_text(const slow_request& request) {
    return request.instances == 1 ? "the only one" : fmt::format("one of {}", request.instances);
}

/// Names the task of the request and, if the trace has a path, the command that shows it.
std::string task_text_of(const trace& loaded, const slow_request& request,
                         std::string_view trace_path) {
    if (request.id != 0) {
        if (trace_path.empty()) return fmt::format(", request {}", request.id);
        return fmt::format(", coroscope requests {} --request {}", shell_path(trace_path),
                           request.id);
    }
    if (request.task >= loaded.tasks.size()) return {};
    const std::uint64_t id = loaded.tasks[request.task].id;
    if (trace_path.empty()) return fmt::format(", task {}", id);
    return fmt::format(", coroscope tasks {} --task {}", shell_path(trace_path), id);
}

/// Returns a sentence about the largest difference of slow and median requests, or an empty string.
std::string difference_line(const trace& loaded, std::string_view trace_path) {
    const auto compared = compare_slow_requests(loaded, requests_of(loaded));
    std::string sentence = compared ? slow_requests_sentence(loaded, *compared) : std::string();
    if (sentence.empty()) return sentence;
    if (!trace_path.empty()) sentence += fmt::format(" (coroscope why {})", shell_path(trace_path));
    return sentence + '\n';
}

}  // namespace

std::string slow_request_sentence(const trace& loaded, const slow_request& request) {
    return slow_request_sentence(loaded, request, {});
}

std::string slow_request_sentence(const trace& loaded, const slow_request& request,
                                  std::string_view trace_path) {
    const std::string parts = is_division_known(loaded, request.event)
                                  ? split_text(request.wall_ns, request.time, request.states) +
                                        cause_text(loaded, request)
                                  : unknown_split_text(request.wall_ns);
    return fmt::format("slowest request: {} ({}, {}; from {} on{})", parts, printable(request.name),
                       instances_text(request), format_span(request.start_ns),
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
    text += request_section(loaded, options);
    text += failed_tasks_text(loaded);
    if (const auto request = slowest_request(loaded)) {
        text += '\n' + slow_request_sentence(loaded, *request, trace_path) + '\n';
    }
    text += difference_line(loaded, trace_path);
    if (text.empty()) text = empty_text(loaded);
    return text + loss_notes(loaded);
}

}  // namespace coroscope::analysis
