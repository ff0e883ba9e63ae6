// SPDX-License-Identifier: Apache-2.0
#include "hand_overs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "../../model/interruptions.hpp"

namespace coroscope::analysis::inline tasks {

hand_over_list::hand_over_list(std::vector<timeline>& timelines, std::uint32_t tasks) {
    for (timeline& line : timelines) {
        line.hand_overs.for_each([&](const hand_over& each, std::size_t) {
            const bool ran =
                each.part < line.slices.size() && line.slices[each.part].run.task != none;
            if (!ran || each.task >= tasks || each.first >= tasks) return;
            all_.push_back(each);
            if (each.last >= tasks) all_.back().last = none;
        });
        line.hand_overs.clear();
    }
    std::sort(all_.begin(), all_.end(), [](const hand_over& left, const hand_over& right) {
        return std::tie(left.task, left.start_ns, left.end_ns, left.thread) <
               std::tie(right.task, right.start_ns, right.end_ns, right.thread);
    });
}

void hand_over_list::add_awaits(std::uint32_t task, task_info& info, std::size_t first_await,
                                trace& loaded) {
    while (next_ < all_.size() && all_[next_].task < task) ++next_;
    added_.clear();
    const std::int64_t last_ns = info.end_ns.value_or(loaded.duration_ns);
    for (; next_ < all_.size() && all_[next_].task == task; ++next_) {
        const bool is_open = !all_[next_].end_ns && !info.end_ns;
        if (!is_open && all_[next_].start_ns >= last_ns) continue;
        added_.push_back(await_of(all_[next_], last_ns));
        added_.back().clipped |= is_open;
    }
    merge_from(first_await, loaded.awaits);
    if (info.state != task_state::running || first_await == loaded.awaits.size()) return;
    const await_info last = std::as_const(loaded).awaits.back();
    if (is_interruption(last) && !last.resume_ns) info.state = task_state::suspended;
}

await_info hand_over_list::await_of(const hand_over& from, std::int64_t last_ns) {
    await_info made;
    made.task = from.task;
    made.awaited = from.first;
    made.suspend_ns = from.start_ns;
    made.clipped = from.unseen_start;
    made.handed_over = true;
    if (!from.end_ns) return made;
    made.waker = from.last;
    made.waker_thread = from.thread;
    made.wake_ns = made.resume_ns = std::min(*from.end_ns, last_ns);
    return made;
}

// Merges two sorted lists. At equal times the task's other awaits come first. Leaves those in place
// that come before all added ones.
void hand_over_list::merge_from(std::size_t first, packed_list<await_info>& awaits) const {
    if (added_.empty()) return;
    const packed_list<await_info>& others = awaits;
    std::size_t other = others.size();
    std::vector<await_info> merged;  // the latest first
    for (std::size_t left = added_.size(); left > 0;) {
        const bool takes_other =
            other > first && others[other - 1].suspend_ns > added_[left - 1].suspend_ns;
        merged.push_back(takes_other ? others[--other] : added_[--left]);
    }
    awaits.resize(other);
    for (; !merged.empty(); merged.pop_back()) awaits.append(merged.back());
}

namespace {

// Returns the time at which the await ends, because the task goes on or is destroyed. None if
// neither was recorded.
optional_ns end_of(const trace& loaded, const await_info& await) {
    return await.resume_ns ? await.resume_ns : loaded.tasks[await.task].end_ns;
}

// The await of the task that is open at `time_ns`: an index, or none.
std::uint32_t open_await(const trace& loaded, std::uint32_t task, std::int64_t time_ns) {
    const index_range range = loaded.tasks[task].awaits;
    if (range.empty()) return none;
    const auto begin = loaded.awaits.begin() + range.front();
    const auto after = std::upper_bound(
        begin, begin + static_cast<std::ptrdiff_t>(range.size()), time_ns,
        [](std::int64_t moment, const await_info& next) { return moment < next.suspend_ns; });
    if (after == begin) return none;
    const optional_ns end_ns = end_of(loaded, *(after - 1));
    if (end_ns && *end_ns < time_ns) return none;
    return static_cast<std::uint32_t>(after - loaded.awaits.begin() - 1);
}

bool ended_within(const task_info& task, const await_info& await) {
    return !await.resume_ns || (task.end_ns && *task.end_ns <= *await.resume_ns);
}

// Returns false if the awaiter was known.
bool name_awaiter(trace& loaded, std::uint32_t task, const await_info& await) {
    task_info named = std::as_const(loaded).tasks[task];
    if (named.awaiter != none) return false;
    named.awaiter = await.task;
    loaded.tasks.set(task, named);
    return true;
}

// Returns the await of `awaiter` during whose suspension the task began, if that await waited for
// the task; else none.
std::uint32_t starting_await(const trace& loaded, std::uint32_t task, std::uint32_t awaiter) {
    const task_info info = loaded.tasks[task];
    if (info.slices.empty() || awaiter >= loaded.tasks.size()) return none;
    const std::uint32_t found =
        open_await(loaded, awaiter, loaded.slices[info.slices.front()].start_ns);
    if (found == none) return none;
    const await_info await = loaded.awaits[found];
    if (!ended_within(info, await)) return none;
    if (info.parent == awaiter) return found;
    // Another task that created it during the await did so beside the awaiter.
    const bool is_older =
        info.parent == none || !info.spawn_ns || *info.spawn_ns < await.suspend_ns;
    return is_older && await.waker == task ? found : none;
}

// Removes the waker of an await that it did not wait for: a task that was resumed in the await's
// suspension and ended there.
bool forget_bystander(await_info& await) {
    if (!await.handed_over || await.awaited != none || await.waker == none) return false;
    await.waker = none;
    return true;
}

// Names the awaited task of an await that was resumed by the end of a task that the awaiting task
// created. If another task awaits the ended one, nothing is named: the end may have resumed that
// other task, which then resumed this await.
bool name_ended(trace& loaded, await_info& await) {
    const std::uint32_t waker = await.waker;
    if (await.awaited != none || waker >= loaded.tasks.size() || !await.wake_ns) return false;
    const task_info& woke = std::as_const(loaded).tasks[waker];
    const bool is_free = woke.awaiter == none || woke.awaiter == await.task;
    if (!is_free || woke.parent != await.task || !woke.end_ns || *woke.end_ns > *await.wake_ns)
        return false;
    await.awaited = waker;
    name_awaiter(loaded, waker, await);
    return true;
}

// Sorts by the ends of the tasks. A task without a recorded end comes last.
void sort_latest_last(std::vector<presumed_task>& started, const trace& loaded) {
    const auto end_of = [&loaded](const presumed_task& each) {
        return loaded.tasks[each.task].end_ns.value_or(INT64_MAX);
    };
    std::ranges::stable_sort(started, {}, end_of);
}

}  // namespace

std::vector<presumed_task> name_awaited_tasks(const std::vector<std::uint32_t>& started_by,
                                              trace& loaded) {
    std::vector<presumed_task> started, presumed;
    for (std::uint32_t task = 0; task < started_by.size(); ++task) {
        if (started_by[task] == none) continue;
        const std::uint32_t found = starting_await(loaded, task, started_by[task]);
        if (found == none) continue;
        await_info await = std::as_const(loaded).awaits[found];
        // Not for an open await without a site, which would look like an interruption.
        if (await.site != none || await.resume_ns) await.handed_over = true;
        loaded.awaits.set(found, await);
        started.push_back({task, found});
        if (name_awaiter(loaded, task, await) && !await.wake_ns) presumed.push_back(started.back());
    }
    const bool any_open =
        std::ranges::any_of(std::as_const(loaded).awaits, [](const await_info& await) {
            return await.awaited == none && await.waker != none;
        });
    if (any_open)
        loaded.awaits.update(
            [&loaded](await_info& await, std::size_t) { return name_ended(loaded, await); });
    sort_latest_last(started, loaded);
    sort_latest_last(presumed, loaded);
    for (; !started.empty(); started.pop_back()) {
        const auto [task, number] = started.back();
        await_info await = std::as_const(loaded).awaits[number];
        if (await.awaited != none) continue;
        await.awaited = task;
        loaded.awaits.set(number, await);
    }
    if (any_open)
        loaded.awaits.update(
            [](await_info& await, std::size_t) { return forget_bystander(await); });
    return presumed;
}

}  // namespace coroscope::analysis::inline tasks
