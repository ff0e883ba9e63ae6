// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "../../words/await_names.hpp"
#include "../../words/places.hpp"
#include "blocking_text.hpp"
#include "device_text.hpp"
#include "figure.hpp"
#include "place_cells.hpp"

namespace coroscope::analysis {
namespace {

using row = std::vector<listing_cell>;

/// "3 finished, 1 suspended": the states of a site's tasks.
std::string states_text(const task_site_statistics& each) {
    std::string text;
    for (std::size_t at = 0; at < task_state_count; ++at) {
        if (each.states[at] == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.states[at],
                            state_name(static_cast<task_state>(at)));
    }
    return text;
}

/// Returns whether the trace has only the ids of these tasks, as parents of other tasks.
bool are_named_only(const task_site_statistics& each) {
    return each.site == none && each.in_state(task_state::spawned) == each.count &&
           each.wall_ns() == 0 && each.wall.count == 0;
}

/// Returns the value as a cell. Without a known value, it does not apply if all tasks were
/// cancelled before they ran; else it is unknown.
listing_cell of_tasks(const task_site_statistics& each, std::uint64_t known, std::int64_t value) {
    if (known != 0) return optional_ns(value);
    const bool never_ran =
        each.in_state(task_state::cancelled) == each.count && each.with_losses == 0;
    if (never_ran) return not_applicable();
    return optional_ns();
}

listing_cell outcome_cell(const await_info& await) {
    const bool open = !await.resume_ns && await.outcome == coroscope::trace::await_outcome::unknown;
    if (open || is_interruption(await)) return not_applicable();
    return std::string(outcome_name(await.outcome));
}

listing_cell object_cell(const trace& loaded, const await_info& await) {
    if (await.object >= loaded.objects.size()) return not_applicable();
    return object_name(loaded, await.object);
}

/// Whether the frames of some coroutines are known.
bool knows_frames(const trace& loaded) {
    return std::any_of(loaded.sites.begin(), loaded.sites.end(),
                       [](const site_info& site) { return site.frame_bytes != 0; });
}

listing_cell frame_cell(const trace& loaded, std::uint32_t site) {
    if (site >= loaded.sites.size() || loaded.sites[site].frame_bytes == 0) return optional_ns();
    return figure(loaded.sites[site].frame_bytes);
}

bool waits_for_devices(const trace& loaded, std::uint32_t task) {
    for (const std::uint32_t await : loaded.tasks[task].awaits)
        if (!find_device_waits(loaded, await).empty()) return true;
    return false;
}

void append_task_device_columns(listing& list) {
    list.columns.push_back({"On device", "device_ns", cell_kind::time});
    list.columns.push_back({"Device queue", "device_queued_ns", cell_kind::time});
    list.columns.push_back({"Device start", "device_start_ns", cell_kind::moment});
    list.columns.push_back({"Device end", "device_end_ns", cell_kind::moment});
    list.columns.push_back({"Waited for", "waited_for", cell_kind::sentence});
}

void append_devices(row& cells, const trace& loaded, const device_coverage& coverage,
                    std::uint32_t await) {
    const device_share share = coverage.of(await);
    if (share.waits == 0) {
        for (int cell = 0; cell < 4; ++cell) cells.emplace_back(not_applicable());
        if (share.unknown == 0)
            cells.emplace_back(not_applicable());
        else
            cells.emplace_back(wait_text(loaded, awaited_work(loaded, await), {}));
        return;
    }
    cells.emplace_back(optional_ns(share.covered_ns));
    cells.emplace_back(share.queued_ns);
    cells.emplace_back(share.start_ns);
    cells.emplace_back(share.end_ns);
    cells.emplace_back(wait_text(loaded, awaited_work(loaded, await), share.queued_ns));
}

}  // namespace

listing list_task_sites(const trace& loaded, const std::vector<task_site_statistics>& statistics) {
    listing list;
    list.columns = {
        {"Spawned", "name", cell_kind::text},      {"Tasks", "count", cell_kind::count},
        {"Wall p50", "p50_ns", cell_kind::time},   {"Wall p90", "p90_ns", cell_kind::time},
        {"Wall p99", "p99_ns", cell_kind::time},   {"Wall max", "max_ns", cell_kind::time},
        {"Running", "running_ns", cell_kind::time}};
    const bool states = loaded.states.any();
    if (states) append_state_columns(list.columns);
    list.columns.insert(list.columns.end(), {{"Suspended", "suspended_ns", cell_kind::time},
                                             {"Queued", "queued_ns", cell_kind::time},
                                             {"Waiting", "waiting_ns", cell_kind::time},
                                             {"Wall", "wall_ns", cell_kind::time},
                                             {"To first wake", "spawn_to_wake_ns", cell_kind::time},
                                             {"State", "states", cell_kind::text},
                                             {"At", "place", cell_kind::source}});
    const bool devices = std::any_of(statistics.begin(), statistics.end(),
                                     [](const auto& each) { return each.device_ns.has_value(); });
    if (devices) list.columns.push_back({"On devices", "device_ns", cell_kind::time});
    const bool frames = knows_frames(loaded);
    if (frames) list.columns.push_back({"Frame bytes", "frame_bytes", cell_kind::count});
    const bool spawns = knows_spawn_places(loaded);
    if (spawns) list.columns.push_back({"Spawned at", "spawned_at", cell_kind::source});
    for (const task_site_statistics& each : statistics) {
        row cells{each.name, figure(each.count)};
        for (const std::int64_t value :
             {each.wall.p50_ns, each.wall.p90_ns, each.wall.p99_ns, each.wall.max_ns}) {
            cells.emplace_back(of_tasks(each, each.wall.count, value));
        }
        append_times(cells, each.time, !are_named_only(each),
                     states ? &each.running_states : nullptr);
        cells.push_back(of_tasks(each, each.spawn_to_wake_count, each.spawn_to_wake_ns));
        cells.emplace_back(are_named_only(each) ? fmt::format("{} unknown", each.count)
                                                : states_text(each));
        cells.emplace_back(site_place(loaded, each.site));
        if (devices) cells.emplace_back(each.device_ns);
        if (frames) cells.push_back(frame_cell(loaded, each.site));
        if (spawns) cells.push_back(spawned_at_cell(loaded, each.spawn_place, each.further_places));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

std::optional<std::uint32_t> find_task(const trace& loaded, std::uint64_t id) {
    const auto found = std::find_if(loaded.tasks.begin(), loaded.tasks.end(),
                                    [id](const task_info& each) { return each.id == id; });
    if (found == loaded.tasks.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - loaded.tasks.begin());
}

namespace {

/// The executor of an await; unknown if none is known.
listing_cell executor_cell(const trace& loaded, std::uint32_t executor) {
    return executor < loaded.executors.size() ? listing_cell(name_of_executor(loaded, executor))
                                              : listing_cell(optional_ns());
}

}  // namespace

listing list_task_awaits(const trace& loaded, std::uint32_t task) {
    listing list;
    list.columns = {{"Await", "name", cell_kind::text},
                    {"Suspended at", "suspend_ns", cell_kind::moment},
                    {"Suspended", "suspended_ns", cell_kind::time},
                    {"Queued", "queued_ns", cell_kind::time},
                    {"Waiting", "waiting_ns", cell_kind::time},
                    {"Total", "total_ns", cell_kind::time},
                    {"Resumed", "resumed", cell_kind::text},
                    {"Wake", "wake", cell_kind::text},
                    {"Awaited task", "awaited", cell_kind::count},
                    {"Woken by task", "waker", cell_kind::count},
                    {"At", "place", cell_kind::source}};
    const bool outcomes = knows_outcomes(loaded);
    const bool objects = !loaded.objects.empty();
    if (outcomes) list.columns.push_back({"Outcome", "outcome", cell_kind::text});
    if (objects) list.columns.push_back({"Object", "object", cell_kind::text});
    const bool devices = waits_for_devices(loaded, task);
    if (devices) append_task_device_columns(list);
    const bool executors = !loaded.executors.empty();
    if (executors) list.columns.push_back({"Executor", "executor", cell_kind::text});
    const device_coverage coverage(loaded);
    for (const std::uint32_t index : loaded.tasks[task].awaits) {
        if (index >= loaded.awaits.size()) continue;
        const await_info& await = loaded.awaits[index];
        const time_split split = split_of(loaded, await);
        row cells{await_title(loaded, await), optional_ns(await.suspend_ns)};
        append_wait(cells, split);
        cells.emplace_back(optional_ns(split.wall_ns()));
        cells.emplace_back(std::string(resumed_text(await)));
        cells.emplace_back(std::string(wake_text(loaded, await)));
        cells.emplace_back(task_id(loaded, await.awaited));
        cells.emplace_back(task_id(loaded, await.waker));
        cells.emplace_back(site_place(loaded, await_place(loaded, await)));
        if (outcomes) cells.emplace_back(outcome_cell(await));
        if (objects) cells.emplace_back(object_cell(loaded, await));
        if (devices) append_devices(cells, loaded, coverage, index);
        if (executors) cells.push_back(executor_cell(loaded, await.executor));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

listing list_task_slices(const trace& loaded, std::uint32_t task) {
    listing list;
    list.columns = {{"Ran on", "thread", cell_kind::text},
                    {"From", "start_ns", cell_kind::moment},
                    {"For", "duration_ns", cell_kind::time}};
    const bool states = loaded.states.any();
    if (states) {
        append_state_columns(list.columns);
        list.columns.push_back({"Blocked in", "blocked_in", cell_kind::sentence});
    }
    const blocking_text blocking(loaded);
    for (const std::uint32_t index : loaded.tasks[task].slices) {
        if (index >= loaded.slices.size()) continue;
        const slice& run = loaded.slices[index];
        row cells{thread_name(loaded, run.thread), optional_ns(run.start_ns),
                  optional_ns(run.end_ns - run.start_ns)};
        if (states) {
            append_states(cells, loaded.states.between(run.thread, run.start_ns, run.end_ns));
            std::string sentence = blocking.of(run.thread, run.start_ns, run.end_ns);
            if (sentence.empty())
                cells.emplace_back(not_applicable());
            else
                cells.emplace_back(std::move(sentence));
        }
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
