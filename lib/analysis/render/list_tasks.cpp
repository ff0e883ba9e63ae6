// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "device_text.hpp"
#include "figure.hpp"
#include "places.hpp"

namespace coroscope::analysis {
namespace {

using render::figure;
using render::site_name;
using render::site_place;
using render::thread_name;

using row = std::vector<listing_cell>;

listing_cell task_id(const trace& loaded, std::uint32_t task) {
    if (task >= loaded.tasks.size()) return not_applicable();
    return figure(loaded.tasks[task].id);
}

/// "3 finished, 1 suspended": what became of a site's tasks.
std::string states_text(const task_site_statistics& each) {
    std::string text;
    for (std::size_t at = 0; at < task_state_count; ++at) {
        if (each.states[at] == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.states[at],
                            render::state_name(static_cast<task_state>(at)));
    }
    return text;
}

/// Whether none of them was seen: each is another's parent, and nothing more.
bool are_named_only(const task_site_statistics& each) {
    return each.site == none && each.in_state(task_state::spawned) == each.count &&
           each.wall_ns() == 0 && each.wall.count == 0;
}

/// Percentiles speak of tasks that ended; where none did, they are unknown.
optional_ns of_ended(const percentiles& of, std::int64_t value) {
    return of.count != 0 ? optional_ns(value) : std::nullopt;
}

bool waits_for_devices(const trace& loaded, std::uint32_t task) {
    for (const std::uint32_t await : loaded.tasks[task].awaits)
        if (!find_device_waits(loaded, await).empty()) return true;
    return false;
}

void append_device_columns(listing& list) {
    list.columns.push_back({"On device", "device_ns", cell_kind::time});
    list.columns.push_back({"Device queue", "device_queued_ns", cell_kind::time});
    list.columns.push_back({"Device start", "device_start_ns", cell_kind::time});
    list.columns.push_back({"Device end", "device_end_ns", cell_kind::time});
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
            cells.emplace_back(render::wait_text(loaded, awaited_work(loaded, await), {}));
        return;
    }
    cells.emplace_back(optional_ns(share.covered_ns));
    cells.emplace_back(share.queued_ns);
    cells.emplace_back(share.start_ns);
    cells.emplace_back(share.end_ns);
    cells.emplace_back(render::wait_text(loaded, awaited_work(loaded, await), share.queued_ns));
}

}  // namespace

listing list_task_sites(const trace& loaded, const std::vector<task_site_statistics>& statistics) {
    listing list;
    list.columns = {{"Spawned", "name", cell_kind::text},
                    {"Tasks", "count", cell_kind::count},
                    {"Wall p50", "p50_ns", cell_kind::time},
                    {"Wall p90", "p90_ns", cell_kind::time},
                    {"Wall p99", "p99_ns", cell_kind::time},
                    {"Wall max", "max_ns", cell_kind::time},
                    {"Running", "running_ns", cell_kind::time},
                    {"Suspended", "suspended_ns", cell_kind::time},
                    {"Queued", "queued_ns", cell_kind::time},
                    {"Waiting", "waiting_ns", cell_kind::time},
                    {"Wall", "wall_ns", cell_kind::time},
                    {"To first wake", "spawn_to_wake_ns", cell_kind::time},
                    {"State", "states", cell_kind::text},
                    {"At", "place", cell_kind::source}};
    const bool devices = std::any_of(statistics.begin(), statistics.end(),
                                     [](const auto& each) { return each.device_ns.has_value(); });
    if (devices) list.columns.push_back({"On devices", "device_ns", cell_kind::time});
    for (const task_site_statistics& each : statistics) {
        row cells{each.name, figure(each.count)};
        for (const std::int64_t value :
             {each.wall.p50_ns, each.wall.p90_ns, each.wall.p99_ns, each.wall.max_ns}) {
            cells.emplace_back(of_ended(each.wall, value));
        }
        render::append_times(cells, each.time, !are_named_only(each));
        cells.emplace_back(each.spawn_to_wake_count != 0 ? optional_ns(each.spawn_to_wake_ns)
                                                         : std::nullopt);
        cells.emplace_back(are_named_only(each) ? fmt::format("{} unknown", each.count)
                                                : states_text(each));
        cells.emplace_back(site_place(loaded, each.site));
        if (devices) cells.emplace_back(each.device_ns);
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

listing list_task_awaits(const trace& loaded, std::uint32_t task) {
    listing list;
    list.columns = {{"Await", "name", cell_kind::text},
                    {"Suspended at", "suspend_ns", cell_kind::time},
                    {"Suspended", "suspended_ns", cell_kind::time},
                    {"Queued", "queued_ns", cell_kind::time},
                    {"Waiting", "waiting_ns", cell_kind::time},
                    {"Total", "total_ns", cell_kind::time},
                    {"Resumed", "resumed", cell_kind::text},
                    {"Awaited task", "awaited", cell_kind::count},
                    {"Woken by task", "waker", cell_kind::count},
                    {"At", "place", cell_kind::source}};
    const bool devices = waits_for_devices(loaded, task);
    if (devices) append_device_columns(list);
    const device_coverage coverage(loaded);
    for (const std::uint32_t index : loaded.tasks[task].awaits) {
        if (index >= loaded.awaits.size()) continue;
        const await_info& await = loaded.awaits[index];
        const time_split split = split_of(loaded, await);
        row cells{site_name(loaded, await.site), optional_ns(await.suspend_ns)};
        render::append_wait(cells, split);
        cells.emplace_back(optional_ns(split.wall_ns()));
        cells.emplace_back(std::string(await.resume_ns ? "yes" : "no"));
        cells.emplace_back(task_id(loaded, await.awaited));
        cells.emplace_back(task_id(loaded, await.waker));
        cells.emplace_back(site_place(loaded, await.site));
        if (devices) append_devices(cells, loaded, coverage, index);
        list.rows.push_back(std::move(cells));
    }
    return list;
}

listing list_task_slices(const trace& loaded, std::uint32_t task) {
    listing list;
    list.columns = {{"Ran on", "thread", cell_kind::text},
                    {"From", "start_ns", cell_kind::time},
                    {"For", "duration_ns", cell_kind::time}};
    for (const std::uint32_t index : loaded.tasks[task].slices) {
        if (index >= loaded.slices.size()) continue;
        const slice& run = loaded.slices[index];
        list.rows.push_back({thread_name(loaded, run.thread), optional_ns(run.start_ns),
                             optional_ns(run.end_ns - run.start_ns)});
    }
    return list;
}

}  // namespace coroscope::analysis
