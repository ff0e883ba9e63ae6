// SPDX-License-Identifier: Apache-2.0
#include "divided_time.hpp"

#include <algorithm>
#include <cstddef>

#include "../model/interruptions.hpp"

namespace coroscope::analysis::inline part {
namespace {

class time_walk {
public:
    time_walk(const trace& loaded, const task_info& task, std::int64_t from_ns, std::int64_t to_ns)
        : loaded_(loaded),
          task_(task),
          to_ns_(to_ns),
          now_ns_(from_ns),
          slice_(first_after(loaded.slices, task.slices, &slice::end_ns)),
          await_(first_open_await()) {}

    time_split run() {
        for (; slice_ < task_.slices.size() && now_ns_ < to_ns_; ++slice_) {
            const slice run = loaded_.slices[task_.slices[slice_]];
            if (run.start_ns >= to_ns_) break;
            fill_gap(run.start_ns);
            take(split_.running_ns, run.end_ns);
        }
        fill_gap(to_ns_);
        return split_;
    }

private:
    // The position of the first row of the range whose time is after the start of the walk.
    template <class List, class Member>
    [[nodiscard]] std::size_t first_after(const List& list, const index_range& range,
                                          Member time) const {
        std::size_t first = 0, end = range.size();
        while (first < end) {
            const std::size_t middle = (first + end) / 2;
            if (list[range[middle]].*time <= now_ns_)
                first = middle + 1;
            else
                end = middle;
        }
        return first;
    }

    // The awaits of a task follow each other, so at most the last one before the start is open.
    [[nodiscard]] std::size_t first_open_await() const {
        const std::size_t after =
            first_after(loaded_.awaits, task_.awaits, &await_info::suspend_ns);
        return after == 0 ? 0 : after - 1;
    }

    void take(std::int64_t& sum_ns, std::int64_t until_ns) {
        until_ns = std::min(until_ns, to_ns_);
        if (until_ns <= now_ns_) return;
        sum_ns += until_ns - now_ns_;
        now_ns_ = until_ns;
    }

    void fill_gap(std::int64_t end_ns) {
        end_ns = std::min(end_ns, to_ns_);
        for (; await_ < task_.awaits.size() && now_ns_ < end_ns; ++await_) {
            const await_info await = loaded_.awaits[task_.awaits[await_]];
            const std::int64_t resume_ns = await.resume_ns.value_or(end_ns);
            if (await.suspend_ns >= end_ns) break;
            if (resume_ns <= now_ns_) continue;
            take(uncovered(), std::min(await.suspend_ns, end_ns));
            const bool is_known = await.wake_ns || is_held(loaded_, await);
            take(is_known ? split_.suspended_ns : split_.waiting_ns,
                 std::min(await.wake_ns.value_or(resume_ns), end_ns));
            if (await.wake_ns) take(split_.queued_ns, std::min(resume_ns, end_ns));
            if (resume_ns > end_ns) break;
        }
        take(uncovered(), end_ns);
    }

    // Before its first run a woken task is queued.
    std::int64_t& uncovered() {
        const bool is_queued =
            slice_ == 0 && await_ == 0 && !task_.older_than_session && !task_.losses;
        return is_queued ? split_.queued_ns : split_.waiting_ns;
    }

    const trace& loaded_;
    const task_info& task_;
    std::int64_t to_ns_;
    std::int64_t now_ns_;
    std::size_t slice_;  // positions among those of the task
    std::size_t await_;
    time_split split_;
};

bool is_spread(const trace& loaded, const event& scope) {
    return scope.detail < loaded.details.size() && scope.task < loaded.tasks.size() &&
           loaded.details[scope.detail].time.running_ns != scope.end_ns - scope.start_ns;
}

}  // namespace

time_split divided_time(const trace& loaded, const task_info& task, std::int64_t from_ns,
                        std::int64_t to_ns) {
    return time_walk(loaded, task, from_ns, to_ns).run();
}

own_times::own_times(const trace& loaded) : loaded_(loaded), slices_(loaded.threads.size()) {
    for (std::uint32_t at = 0; at < loaded.slices.size(); ++at) {
        const slice run = loaded.slices[at];
        if (run.thread < slices_.size() && run.end_ns > run.start_ns)
            slices_[run.thread].push_back({at, run.start_ns, run.end_ns});
    }
    for (std::vector<placed_slice>& line : slices_) {
        std::ranges::stable_sort(line, {}, &placed_slice::start_ns);
        for (std::size_t at = 1; at < line.size(); ++at)
            line[at].latest_end_ns = std::max(line[at].latest_end_ns, line[at - 1].latest_end_ns);
    }
}

std::int64_t own_times::own_ns(const event& scope, std::int64_t from_ns, std::int64_t to_ns) const {
    if (!is_spread(loaded_, scope)) return on_thread_ns(scope.thread, scope.task, from_ns, to_ns);
    const task_info task = loaded_.tasks[scope.task];
    std::int64_t sum_ns = 0;
    for (const std::uint32_t at : task.slices) {
        const slice run = loaded_.slices[at];
        if (run.start_ns >= to_ns) break;
        const std::int64_t first_ns = std::max(run.start_ns, from_ns);
        const std::int64_t last_ns = std::min(run.end_ns, to_ns);
        if (last_ns > first_ns) sum_ns += on_thread_ns(run.thread, scope.task, first_ns, last_ns);
    }
    return sum_ns;
}

// The time minus the union of the slices of other tasks. A slice around the time, in which the task
// is nested, is none on top of it: it began before the task's own slice did.
std::int64_t own_times::on_thread_ns(std::uint32_t thread, std::uint32_t task, std::int64_t from_ns,
                                     std::int64_t to_ns) const {
    std::int64_t left_ns = to_ns - from_ns;
    if (thread >= slices_.size()) return left_ns;
    const std::vector<placed_slice>& line = slices_[thread];
    auto at = std::ranges::upper_bound(line, from_ns, {}, &placed_slice::latest_end_ns);
    std::int64_t begun_ns = task == none ? std::int64_t{0} : from_ns;
    for (auto own = at; task != none && own != line.end() && own->start_ns <= from_ns; ++own)
        if (loaded_.slices[own->index].task == task) begun_ns = own->start_ns;
    std::int64_t done_ns = from_ns;
    for (; at != line.end() && at->start_ns < to_ns; ++at) {
        const slice run = loaded_.slices[at->index];
        if (run.task == task || run.start_ns < begun_ns || run.end_ns <= done_ns) continue;
        left_ns -= std::min(run.end_ns, to_ns) - std::max(run.start_ns, done_ns);
        done_ns = std::min(run.end_ns, to_ns);
    }
    return left_ns;
}

}  // namespace coroscope::analysis::inline part
