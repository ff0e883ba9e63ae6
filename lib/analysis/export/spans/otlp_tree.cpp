// SPDX-License-Identifier: Apache-2.0
#include "otlp_tree.hpp"

#include <algorithm>
#include <tuple>

namespace coroscope::analysis::inline spans {

otlp_tree::otlp_tree(const trace& from, const request_list& list)
    : from_(from), list_(list), ids_(from), around_(list.requests.size(), none) {
    for (std::uint32_t at = 0; at < list.requests.size(); ++at)
        if (list.requests[at].task < from.tasks.size()) by_task_.push_back(at);
    std::ranges::sort(by_task_, {}, [&](std::uint32_t at) {
        const request_info& each = list.requests[at];
        return std::tuple(each.task, each.start_ns, -each.end_ns, at);
    });
    for (std::uint32_t place = 0; place < by_task_.size(); ++place) {
        const request_info& each = list.requests[by_task_[place]];
        around_[by_task_[place]] = open_in(each.task, each.start_ns, place);
    }
    parents_.resize(from.tasks.size());
    for (std::uint32_t task = 0; task < parents_.size(); ++task) parents_[task] = spawner_of(task);
    for (const std::uint32_t request : by_task_)
        if (list.requests[request].event == none)
            parents_[list.requests[request].task] = {.request = request};
    find_roots();
}

/// Returns the innermost request of a task that is open at that moment. Only those before a place
/// in by_task_ count.
std::uint32_t otlp_tree::open_in(std::uint32_t task, std::int64_t time_ns,
                                 std::uint32_t before) const {
    constexpr std::uint32_t most_looked_at = 64;  // requests that ended, or overlap
    for (std::uint32_t step = 0; step < most_looked_at && before-- > 0; ++step) {
        const request_info& each = list_.requests[by_task_[before]];
        if (each.task != task) break;
        if (each.start_ns <= time_ns && time_ns < each.end_ns) return by_task_[before];
    }
    return none;
}

/// Returns the innermost request of the parent task in which a task was spawned, else that task.
otlp_tree::node otlp_tree::spawner_of(std::uint32_t task) const {
    const task_info& info = from_.tasks[task];
    if (info.parent >= from_.tasks.size() || info.parent == task) return {};
    if (!info.spawn_ns) return {.task = info.parent};
    const auto after = std::ranges::upper_bound(
        by_task_, std::tuple(info.parent, *info.spawn_ns), {}, [&](std::uint32_t at) {
            return std::tuple(list_.requests[at].task, list_.requests[at].start_ns);
        });
    const std::uint32_t request =
        open_in(info.parent, *info.spawn_ns, static_cast<std::uint32_t>(after - by_task_.begin()));
    // A request that is the whole parent task is above that task.
    if (request == none || list_.requests[request].event == none) return {.task = info.parent};
    return {.request = request};
}

/// In damaged traces tasks may be one another's parents. The first of them that is met begins the
/// trace.
void otlp_tree::find_roots() {
    roots_.resize(parents_.size());
    std::vector<std::uint32_t> way;
    std::vector<bool> is_met(parents_.size());
    for (std::uint32_t task = 0; task < parents_.size(); ++task) {
        std::uint32_t at = task;
        for (way.clear(); !is_met[at]; at = parents_[at].task) {
            is_met[at] = true;
            way.push_back(at);
            if (parents_[at].task == none) break;
        }
        for (; !way.empty(); way.pop_back()) {
            const std::uint32_t own = way.back();
            const node parent = parents_[own];
            const node& root_above = parent.task == none ? parent : roots_[parent.task];
            const bool is_known = root_above.task != none || root_above.request != none;
            if (!is_known) parents_[own] = {};
            roots_[own] = is_known ? root_above : node{.task = own};
        }
    }
}

std::optional<otlp_context> otlp_tree::from_outside(std::uint32_t request) const {
    const request_info& info = list_.requests[request];
    const std::uint32_t attribute =
        info.event < from_.events.size() ? from_.events[info.event].attribute
        : info.task < from_.tasks.size() ? from_.tasks[info.task].attribute
                                         : none;
    const std::uint32_t value = attribute_value(from_, attribute, "traceparent");
    if (value >= from_.strings.size()) return std::nullopt;
    return read_traceparent(from_.strings[value]);
}

/// Returns the request or the task directly above a request, whether it is in a trace of its own or
/// not.
otlp_tree::node otlp_tree::above(std::uint32_t request) const {
    if (around_[request] != none) return {.request = around_[request]};
    const request_info& info = list_.requests[request];
    if (info.task >= from_.tasks.size()) return {};
    return info.event == none ? spawner_of(info.task) : node{.task = info.task};
}

/// Returns the next request above a request, or none.
std::uint32_t otlp_tree::outer(std::uint32_t request) const {
    const node next = above(request);
    if (next.task == none) return next.request;
    const std::uint32_t found = roots_[next.task].request;
    return found == request ? none : found;
}

/// In damaged traces requests may lie in one another.
std::uint32_t otlp_tree::outermost(std::uint32_t request) const {
    constexpr int most_steps = 1000;
    for (int step = 0; step < most_steps; ++step) {
        const std::uint32_t next = outer(request);
        if (next == none) break;
        request = next;
    }
    return request;
}

otlp_trace_id otlp_tree::trace_of_request(std::uint32_t request) const {
    request = outermost(request);
    if (const auto outside = from_outside(request)) return outside->trace;
    return ids_.trace_of(otlp_ids::of::request, list_.requests[request].id);
}

otlp_context otlp_tree::of_request(std::uint32_t request) const {
    return {trace_of_request(request),
            ids_.span_of(otlp_ids::of::request, list_.requests[request].id)};
}

otlp_context otlp_tree::of_task(std::uint32_t task) const {
    const node root = roots_[task];
    return {root.request != none ? trace_of_request(root.request)
                                 : ids_.trace_of(otlp_ids::of::task, from_.tasks[root.task].id),
            ids_.span_of(otlp_ids::of::task, from_.tasks[task].id)};
}

otlp_span_id otlp_tree::above_request(std::uint32_t request) const {
    if (outer(request) == none) {
        const auto outside = from_outside(request);
        return outside ? outside->span : otlp_span_id{};
    }
    const node next = above(request);
    return next.request != none ? of_request(next.request).span : of_task(next.task).span;
}

otlp_span_id otlp_tree::above_task(std::uint32_t task) const {
    const node parent = parents_[task];
    if (parent.request != none) return of_request(parent.request).span;
    return parent.task == none ? otlp_span_id{} : of_task(parent.task).span;
}

}  // namespace coroscope::analysis::inline spans
