// SPDX-License-Identifier: Apache-2.0
#include "idle_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../model/task_slices.hpp"

namespace coroscope::analysis::inline loading {
namespace {

// The time that each thread waited in the kernel between its slices.
class idle_times {
public:
    explicit idle_times(const trace& loaded) : threads_(loaded.threads.size()) {
        std::vector<std::vector<slice>> runs(threads_.size());
        for (const slice& each : loaded.slices)
            if (each.thread < runs.size()) runs[each.thread].push_back(each);
        for (std::uint32_t thread = 0; thread < runs.size(); ++thread) {
            std::ranges::sort(runs[thread], {}, &slice::start_ns);
            add_up(loaded.states, thread, runs[thread]);
        }
    }

    // The same between two slices, of which the first one ends at `end_ns`, and the second one
    // starts at `start_ns`.
    [[nodiscard]] std::int64_t between(std::uint32_t thread, std::int64_t end_ns,
                                       std::int64_t start_ns) const {
        return until(thread, start_ns) - until(thread, end_ns);
    }

private:
    struct point {
        std::int64_t time_ns;  // the start of a slice
        std::int64_t idle_ns;  // of all gaps before it
    };

    void add_up(const thread_states& states, std::uint32_t thread, const std::vector<slice>& runs) {
        std::int64_t end_ns = runs.empty() ? 0 : runs.front().start_ns;
        std::int64_t idle_ns = 0;
        std::size_t near = 0;
        for (const slice& each : runs) {
            if (each.start_ns > end_ns)
                add_to(idle_ns, states.between(thread, end_ns, each.start_ns, near).blocked_ns);
            threads_[thread].push_back({each.start_ns, idle_ns});
            end_ns = std::max(end_ns, each.end_ns);
        }
    }

    [[nodiscard]] std::int64_t until(std::uint32_t thread, std::int64_t time_ns) const {
        const std::vector<point>& points = threads_[thread];
        const auto after = std::ranges::upper_bound(points, time_ns, {}, &point::time_ns);
        return after == points.begin() ? 0 : (after - 1)->idle_ns;
    }

    std::vector<std::vector<point>> threads_;  // by time
};

// The tasks that one await is presumed to have waited for, the last one to end at the back.
using presumed_group = std::span<const presumed_task>;

bool waited_for_something_else(const presumed_group& group, const idle_times& idle,
                               const trace& loaded) {
    const await_info await = loaded.awaits[group.back().await];
    if (await.wake_ns || !await.resume_ns) return false;
    const std::optional<slice> last = latest_slice(loaded, group.back().task, INT64_MAX);
    const std::optional<slice> next = latest_slice(loaded, await.task, *await.resume_ns);
    if (!last || !next || last->thread != next->thread || last->thread >= loaded.threads.size())
        return false;
    return idle.between(last->thread, last->end_ns, next->start_ns) > 0;
}

void forget(const presumed_group& group, trace& loaded) {
    await_info await = std::as_const(loaded).awaits[group.back().await];
    for (const presumed_task& each : group) {
        task_info task = std::as_const(loaded).tasks[each.task];
        task.awaiter = none;
        loaded.tasks.set(each.task, task);
        if (await.awaited == each.task) await.awaited = none;
    }
    loaded.awaits.set(group.back().await, await);
}

}  // namespace

void forget_tasks_before_idle_time(std::span<const presumed_task> presumed, trace& loaded) {
    if (presumed.empty() || !loaded.states.any()) return;
    const idle_times idle(loaded);
    std::vector<presumed_task> all(presumed.begin(), presumed.end());
    std::ranges::stable_sort(all, {}, &presumed_task::await);
    for (auto first = all.begin(); first != all.end();) {
        const auto end = std::find_if(first, all.end(), [&](const presumed_task& each) {
            return each.await != first->await;
        });
        const presumed_group group(first, end);
        if (waited_for_something_else(group, idle, loaded)) forget(group, loaded);
        first = end;
    }
}

}  // namespace coroscope::analysis::inline loading
