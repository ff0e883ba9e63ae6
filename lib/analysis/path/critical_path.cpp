// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/critical_path.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "../model/requests.hpp"
#include "blame.hpp"
#include "divide.hpp"
#include "surroundings.hpp"
#include "walk.hpp"

namespace coroscope::analysis {
namespace {

void finish(surroundings& around, std::vector<critical_path>& paths, bool with_blame) {
    divide(around.loaded(), paths);
    if (with_blame) add_blame(around, paths);
}

// Fills the path of a task, or of a thread outside tasks, from path.start_ns to path.end_ns.
// path.event may be the scope or range that lasted so long.
void walk_extent(surroundings& around, std::uint32_t thread, critical_path& path) {
    if (path.task >= around.loaded().tasks.size()) path.task = none;
    if (is_division_known(around.loaded(), path.event)) return walk_back(around, thread, path);
    path.task = none;
    if (path.start_ns < path.end_ns)
        path.segments.push_back(
            {.kind = path_kind::unknown, .start_ns = path.start_ns, .end_ns = path.end_ns});
}

critical_path only(const trace& loaded, std::uint32_t thread, critical_path path) {
    surroundings around(loaded, true);
    walk_extent(around, thread, path);
    std::vector<critical_path> paths;
    paths.push_back(std::move(path));
    finish(around, paths, true);
    return std::move(paths.front());
}

}  // namespace

std::string_view name_of(path_kind kind) noexcept {
    switch (kind) {
        case path_kind::running: return "running";
        case path_kind::on_cpu: return "on-CPU";
        case path_kind::blocked: return "blocked";
        case path_kind::preempted: return "preempted";
        case path_kind::queued: return "queued";
        case path_kind::suspended: return "suspended";
        case path_kind::waiting: return "waiting";
        case path_kind::not_started: return "not started";
        case path_kind::unknown: break;
    }
    return "unknown";
}

critical_path critical_path_of_task(const trace& loaded, std::uint32_t task) {
    const task_info& of = loaded.tasks[task];
    const std::int64_t last_ns = of.end_ns.value_or(loaded.duration_ns);
    const std::int64_t start_ns = of.first_wake_ns.value_or(last_ns);
    return only(loaded, none,
                {.task = task, .start_ns = start_ns, .end_ns = std::max(start_ns, last_ns)});
}

critical_path critical_path_of_scope(const trace& loaded, std::uint32_t event) {
    const analysis::event& scope = loaded.events[event];
    return only(
        loaded, scope.thread,
        {.task = scope.task, .event = event, .start_ns = scope.start_ns, .end_ns = scope.end_ns});
}

void for_each_critical_path(const trace& loaded, std::span<const request_info> requests,
                            const path_options& options,
                            const std::function<void(const critical_path&)>& use) {
    for_each_critical_path(loaded, requests, options, std::numeric_limits<std::size_t>::max(), use);
}

std::size_t for_each_critical_path(const trace& loaded, std::span<const request_info> requests,
                                   const path_options& options, std::size_t most_segments,
                                   const std::function<void(const critical_path&)>& use) {
    constexpr std::size_t most_held = std::size_t{1} << 22;  // segments and waits
    surroundings around(loaded, options.through_holders);
    std::vector<critical_path> paths;
    std::size_t held = 0;
    std::size_t found = 0;
    std::size_t all = 0;
    const auto hand_over = [&] {
        finish(around, paths, options.blame);
        for (const critical_path& each : paths) use(each);
        found += paths.size();
        paths.clear();
        all += std::exchange(held, 0);
    };
    for (const request_info& each : requests) {
        if (all + held >= most_segments) break;
        paths.push_back({.task = each.task,
                         .event = each.event,
                         .request = each.id,
                         .start_ns = each.start_ns,
                         .end_ns = each.end_ns});
        walk_extent(around, each.thread, paths.back());
        held += paths.back().segments.size() + paths.back().waits.size();
        if (held > most_held) hand_over();
    }
    hand_over();
    return found;
}

std::vector<critical_path> critical_paths(const trace& loaded,
                                          std::span<const request_info> requests,
                                          const path_options& options) {
    std::vector<critical_path> paths;
    paths.reserve(requests.size());
    for_each_critical_path(loaded, requests, options,
                           [&paths](const critical_path& each) { paths.push_back(each); });
    return paths;
}

}  // namespace coroscope::analysis
