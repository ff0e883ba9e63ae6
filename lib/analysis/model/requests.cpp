// SPDX-License-Identifier: Apache-2.0
#include "requests.hpp"

#include <algorithm>
#include <tuple>

namespace coroscope::analysis::inline model {
namespace {

request_end end_of_scope(const event& scope) {
    if ((scope.flags & event_abandoned) != 0) return request_end::abandoned;
    if ((scope.flags & event_open) != 0) return request_end::unfinished;
    return request_end::completed;
}

request_end end_of_task(const task_info& task) {
    switch (task.state) {
        case task_state::finished: return request_end::completed;
        case task_state::failed: return request_end::failed;
        case task_state::abandoned:
        case task_state::ended_with_service:
        case task_state::cancelled: return request_end::abandoned;
        case task_state::spawned:
        case task_state::running:
        case task_state::suspended:
        case task_state::queued:
        case task_state::unknown: break;
    }
    return request_end::unfinished;
}

}  // namespace

request_info request_of_scope(const trace& loaded, std::uint32_t index) {
    const event& scope = loaded.events[index];
    request_info request;
    request.name = scope.name;
    request.site = scope.site;
    request.event = index;
    request.task = scope.task;
    request.thread = scope.thread;
    request.start_ns = scope.start_ns;
    request.end_ns = scope.end_ns;
    request.end = end_of_scope(scope);
    request.clipped = (scope.flags & event_clipped) != 0;
    request.left_out = (scope.flags & event_left_out) != 0;
    return request;
}

request_info request_of_task(const trace& loaded, std::uint32_t index) {
    const task_info& task = loaded.tasks[index];
    request_info request;
    request.task = index;
    request.start_ns = task.first_wake_ns.value_or(task.spawn_ns.value_or(0));
    request.end_ns = std::max(request.start_ns, task.end_ns.value_or(loaded.duration_ns));
    request.end = end_of_task(task);
    request.clipped = task.older_than_session;
    return request;
}

void number_requests(std::vector<request_info>& requests) {
    std::ranges::stable_sort(requests, {}, [](const request_info& each) {
        return std::tuple(each.start_ns, -each.end_ns, each.event, each.task);
    });
    std::uint64_t id = 0;
    for (request_info& each : requests) each.id = ++id;
}

}  // namespace coroscope::analysis::inline model
