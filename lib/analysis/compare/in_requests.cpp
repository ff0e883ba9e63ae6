// SPDX-License-Identifier: Apache-2.0
#include "in_requests.hpp"

#include <algorithm>

namespace coroscope::analysis::inline compare {
namespace {

/// A task, or a thread outside tasks.
std::uint64_t owner_of(std::uint32_t task, std::uint32_t thread) {
    constexpr std::uint64_t is_thread = std::uint64_t{1} << 32;
    return task != none ? task : thread | is_thread;
}

}  // namespace

work_of_requests::work_of_requests(const trace& loaded, const request_list& list)
    : events_(loaded.events.size()), tasks_(loaded.tasks.size()) {
    find_tasks(loaded, list);
    find_events(loaded, list);
}

bool work_of_requests::is_created_in_request(const request_list& list,
                                             const task_info& task) const {
    const auto found = by_owner_.find(owner_of(task.parent, task.spawn_thread));
    if (found == by_owner_.end() || !task.spawn_ns) return false;
    // By start, so the last one that began before the moment is the first candidate.
    const std::vector<std::uint32_t>& places = found->second;
    auto at = std::ranges::upper_bound(places, *task.spawn_ns, {}, [&](std::uint32_t place) {
        return list.requests[place].start_ns;
    });
    constexpr int most_nested = 16;
    for (int tries = 0; at != places.begin() && tries < most_nested; ++tries)
        if (list.requests[*--at].end_ns >= *task.spawn_ns) return true;
    return false;
}

void work_of_requests::find_tasks(const trace& loaded, const request_list& list) {
    for (std::uint32_t at = 0; at < list.requests.size(); ++at) {
        const request_info& each = list.requests[at];
        if (each.event == none && each.task < tasks_.size()) tasks_[each.task] = membership::inside;
        by_owner_[owner_of(each.task, each.thread)].push_back(at);
    }
    std::vector<std::uint32_t> path;
    for (std::uint32_t first = 0; first < loaded.tasks.size(); ++first) {
        path.clear();
        membership found = membership::unknown;
        std::uint32_t task = first;
        while (found == membership::unknown) {
            if (task >= loaded.tasks.size() || path.size() > loaded.tasks.size()) {
                found = membership::outside;
            } else if (tasks_[task] != membership::unknown) {
                found = tasks_[task];
            } else {
                path.push_back(task);
                const task_info& info = loaded.tasks[task];
                if (is_created_in_request(list, info)) found = membership::inside;
                task = info.parent;
            }
        }
        for (const std::uint32_t each : path) tasks_[each] = found;
    }
}

void work_of_requests::find_events(const trace& loaded, const request_list& list) {
    for (const request_info& each : list.requests)
        if (each.event < events_.size()) events_[each.event] = 1;
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at) {
        const event& each = loaded.events[at];
        if (each.parent < at ? events_[each.parent] != 0 : has_task(each.task)) events_[at] = 1;
    }
}

}  // namespace coroscope::analysis::inline compare
