// SPDX-License-Identifier: Apache-2.0

// The scopes, awaits and child tasks of one request.

#include <coroscope/analysis/request_statistics.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace coroscope::analysis {
namespace {

// The part of a task or of a thread that belongs to the request.
struct owned_part {
    std::int64_t from_ns;
    std::int64_t to_ns;
    std::vector<request_step> steps;
};

class step_collector {
public:
    step_collector(const trace& loaded, const request_info& request)
        : loaded_(loaded), request_(request), whole_task_(request.event >= loaded.events.size()) {}

    std::vector<request_step> run() {
        find_tasks();
        collect_scopes();
        collect_awaits();
        emit(part_of_request_, 0);
        return std::move(found_);
    }

private:
    static constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::max();

    // Finds the children of the request, their children, and so on. Goes from parents to children,
    // because a task may come before its parent in the list.
    void find_tasks() {
        part_of_request_ = {request_.start_ns, request_.end_ns, {}};
        std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> children;
        for (std::uint32_t at = 0; at < loaded_.tasks.size(); ++at) {
            const task_info& task = loaded_.tasks[at];
            if (at == request_.task) continue;
            if (task.parent < loaded_.tasks.size())
                children[task.parent].push_back(at);
            else if (request_.task == none && task.spawn_thread == request_.thread)
                add_child(at, part_of_request_);
        }
        if (request_.task != none)
            for (const std::uint32_t child : children[request_.task])
                add_child(child, part_of_request_);
        for (std::size_t next = 0; next < order_.size(); ++next)
            for (const std::uint32_t child : children[order_[next]])
                add_child(child, parts_.at(order_[next]));
    }

    void add_child(std::uint32_t child, owned_part& of) {
        const task_info& task = loaded_.tasks[child];
        const std::int64_t at_ns = task.spawn_ns.value_or(task.first_wake_ns.value_or(-1));
        if (at_ns < of.from_ns || at_ns > of.to_ns) return;
        if (!parts_.try_emplace(child, owned_part{0, ever, {}}).second) return;
        order_.push_back(child);
        request_step step{request_step_kind::task, child, 0, at_ns,
                          std::max(at_ns, task.end_ns.value_or(loaded_.duration_ns))};
        of.steps.push_back(step);
    }

    [[nodiscard]] owned_part* part_of(const event& scope) {
        if (scope.task == request_.task && (scope.task != none || scope.thread == request_.thread))
            return &part_of_request_;
        const auto found = parts_.find(scope.task);
        return found == parts_.end() ? nullptr : &found->second;
    }

    void collect_scopes() {
        for (std::uint32_t at = 0; at < loaded_.events.size(); ++at) {
            const event& scope = loaded_.events[at];
            if (scope.start_ns > latest_ns()) break;
            if (at == request_.event) continue;
            owned_part* const part = part_of(scope);
            if (part == nullptr || scope.start_ns < part->from_ns || scope.end_ns > part->to_ns ||
                encloses_request(scope, at))
                continue;
            part->steps.push_back({request_step_kind::scope, at, 0, scope.start_ns, scope.end_ns});
        }
    }

    // Of scopes with the request's extent, those that come first in the model's order enclose it.
    [[nodiscard]] bool encloses_request(const event& scope, std::uint32_t at) const {
        return !whole_task_ && at < request_.event && scope.start_ns <= request_.start_ns &&
               scope.end_ns >= request_.end_ns && scope.task == request_.task;
    }

    [[nodiscard]] std::int64_t latest_ns() const { return order_.empty() ? request_.end_ns : ever; }

    void collect_awaits() {
        if (request_.task < loaded_.tasks.size())
            collect_awaits_of(loaded_.tasks[request_.task], part_of_request_);
        for (const std::uint32_t task : order_)
            collect_awaits_of(loaded_.tasks[task], parts_.at(task));
    }

    void collect_awaits_of(const task_info& task, owned_part& part) {
        for (const std::uint32_t at : task.awaits) {
            if (at >= loaded_.awaits.size()) continue;
            const await_info& await = loaded_.awaits[at];
            if (await.suspend_ns < part.from_ns || await.suspend_ns > part.to_ns) continue;
            const std::int64_t end_ns =
                await.resume_ns.value_or(task.end_ns.value_or(loaded_.duration_ns));
            part.steps.push_back({request_step_kind::await, at, 0, await.suspend_ns,
                                  std::max(await.suspend_ns, end_ns)});
        }
    }

    // Not recursive, because chains of tasks may be long.
    void emit(owned_part& root, std::uint32_t depth) {
        struct walk {
            owned_part* part;
            std::uint32_t depth;
            std::size_t next;
            std::vector<std::int64_t> open_ends;  // of the scopes around the next step
        };
        std::vector<walk> walks;
        const auto enter = [&](owned_part& part, std::uint32_t at_depth) {
            std::ranges::stable_sort(part.steps, {}, [](const request_step& each) {
                return std::tuple(each.start_ns, -each.end_ns, each.kind);
            });
            walks.push_back({&part, at_depth, 0, {}});
        };
        enter(root, depth);
        while (!walks.empty()) {
            walk& top = walks.back();
            if (top.next == top.part->steps.size()) {
                walks.pop_back();
                continue;
            }
            request_step step = top.part->steps[top.next++];
            while (!top.open_ends.empty() &&
                   (top.open_ends.back() <= step.start_ns ||
                    (step.kind != request_step_kind::task && top.open_ends.back() < step.end_ns)))
                top.open_ends.pop_back();
            step.depth = top.depth + static_cast<std::uint32_t>(top.open_ends.size());
            if (step.kind == request_step_kind::scope) top.open_ends.push_back(step.end_ns);
            found_.push_back(step);
            if (step.kind == request_step_kind::task) enter(parts_.at(step.index), step.depth + 1);
        }
    }

    const trace& loaded_;
    const request_info& request_;
    bool whole_task_;
    owned_part part_of_request_{0, 0, {}};
    std::unordered_map<std::uint32_t, owned_part> parts_;  // by task
    std::vector<std::uint32_t> order_;                     // the children as they were found
    std::vector<request_step> found_;
};

}  // namespace

std::vector<request_step> steps_of_request(const trace& loaded, const request_info& request) {
    return step_collector(loaded, request).run();
}

}  // namespace coroscope::analysis
