// SPDX-License-Identifier: Apache-2.0
#include "stack_times.hpp"

#include <algorithm>

#include <coroscope/analysis/await_statistics.hpp>

namespace coroscope::analysis::inline profiles {
namespace {

class stack_time_visit {
public:
    stack_time_visit(const trace& from, const scope_index& scopes, stack_tree& stacks,
                     const stack_time_use& use)
        : from_(from), scopes_(scopes), stacks_(stacks), use_(use) {}

    void visit_tasks() {
        for (std::uint32_t task = 0; task < from_.tasks.size(); ++task) {
            for (const std::uint32_t slice : from_.tasks[task].slices)
                visit_slice(task, from_.slices[slice]);
            for (const std::uint32_t await : from_.tasks[task].awaits) visit_await(await);
            visit_start(task);
        }
    }

    /// The scopes outside tasks, without the slices of tasks that ran within them.
    void visit_threads() {
        const auto slices = slices_by_thread(from_);
        for (std::uint32_t thread = 0; thread < from_.threads.size(); ++thread)
            for_each_piece_of_thread(from_, scopes_, thread, slices[thread],
                                     [&](std::int64_t from_ns, std::int64_t to_ns,
                                         std::uint32_t task, std::uint32_t scope) {
                                         if (task == none && scope != none)
                                             add_running(stacks_.node_on_thread(thread, scope),
                                                         thread, from_ns, to_ns);
                                     });
    }

private:
    void add(std::uint32_t node, path_kind kind, std::int64_t time_ns) {
        if (time_ns > 0) use_(node, kind, time_ns);
    }

    void add_running(std::uint32_t node, std::uint32_t thread, std::int64_t from_ns,
                     std::int64_t to_ns) {
        visit_running(from_, thread, from_ns, to_ns,
                      [&](std::int64_t start_ns, std::int64_t end_ns, path_kind kind) {
                          add(node, kind, end_ns - start_ns);
                      });
    }

    void visit_slice(std::uint32_t task, const slice& run) {
        scopes_.in_task(task, run.start_ns, run.end_ns,
                        [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t scope) {
                            add_running(stacks_.node_of(task, scope), run.thread, from_ns, to_ns);
                        });
    }

    // The awaited task's own stacks have the time up to its end.
    void visit_await(std::uint32_t index) {
        await_info rest = from_.awaits[index];
        if (rest.awaited < from_.tasks.size()) {
            const optional_ns& end_ns = from_.tasks[rest.awaited].end_ns;
            if (!end_ns) return;
            rest.suspend_ns = std::max(rest.suspend_ns, *end_ns);
        }
        const time_split split = split_of(from_, rest);
        const std::uint32_t node = stacks_.node_of_await(index);
        add(node, path_kind::suspended, split.suspended_ns);
        add(node, path_kind::queued, split.queued_ns);
        add(node, path_kind::waiting, split.waiting_ns);
    }

    // From its first wake to its first run a task is queued.
    void visit_start(std::uint32_t index) {
        const task_info& task = from_.tasks[index];
        if (!task.first_wake_ns || task.slices.empty()) return;
        add(stacks_.node_of(index, none), path_kind::queued,
            from_.slices[task.slices.front()].start_ns - *task.first_wake_ns);
    }

    const trace& from_;
    const scope_index& scopes_;
    stack_tree& stacks_;
    const stack_time_use& use_;
};

}  // namespace

void visit_stack_times(const trace& from, const scope_index& scopes, stack_tree& stacks,
                       const stack_time_use& use) {
    stack_time_visit visit(from, scopes, stacks, use);
    visit.visit_tasks();
    visit.visit_threads();
}

std::uint32_t node_of(stack_tree& stacks, const path_segment& segment) {
    if (segment.await != none) return stacks.node_of_await(segment.await);
    return segment.task == none ? stacks.node_on_thread(segment.thread, segment.event)
                                : stacks.node_of(segment.task, segment.event);
}

}  // namespace coroscope::analysis::inline profiles
