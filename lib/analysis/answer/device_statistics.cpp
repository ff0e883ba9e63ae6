// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/device_statistics.hpp>

#include <algorithm>
#include <cstddef>

#include <coroscope/analysis/await_statistics.hpp>

#include "../events/saturated.hpp"

namespace coroscope::analysis {
namespace {

using what_kind = coroscope::trace::device_activity;

/// When what an await waited for had to be done: its wake, else its resume.
std::int64_t end_of_wait(const trace& loaded, const await_info& await) {
    const time_split time = split_of(loaded, await);
    return await.suspend_ns + time.suspended_ns + time.waiting_ns;
}

void add(device_work& sum, const trace& loaded, std::uint32_t index) {
    const device_activity& added = loaded.device_activities[index];
    const std::int64_t length_ns = added.end_ns - added.start_ns;
    device_part& part = added.what == what_kind::kernel ? sum.kernels
                        : added.what == what_kind::copy ? sum.copies
                                                        : sum.sets;
    ++part.count;
    events::add_to(part.total_ns, length_ns);
    if (added.what != what_kind::kernel) return;
    if (sum.longest != none) {
        const device_activity& longest = loaded.device_activities[sum.longest];
        if (length_ns <= longest.end_ns - longest.start_ns) return;
    }
    sum.longest = index;
}

bool overlaps(const device_activity& ran, const await_info& await, std::int64_t until_ns) {
    return ran.end_ns > await.suspend_ns && ran.start_ns < until_ns;
}

}  // namespace

device_coverage::device_coverage(const trace& loaded) : loaded_(loaded) {
    // A model that was made by hand may name what it does not have: then nothing is covered.
    const std::size_t known = loaded.device_activities.size();
    if (std::any_of(loaded.stream_order.begin(), loaded.stream_order.end(),
                    [known](std::uint32_t at) { return at >= known; }))
        return;
    sums_.resize(loaded.stream_order.size());
    for (std::size_t at = 0; at < sums_.size(); ++at) {
        const device_activity& here = activity(at);
        sums& sum = sums_[at];
        const bool goes_on = at != 0 && activity(at - 1).context == here.context &&
                             activity(at - 1).stream == here.stream;
        sum.first = static_cast<std::uint32_t>(at);
        sum.latest_end_ns = here.start_ns;
        if (goes_on) sum = sums_[at - 1];
        const std::int64_t idle_from_ns =
            std::max(queue_began(at), goes_on ? sum.latest_end_ns : 0);
        events::add_to(sum.queued_ns, std::max<std::int64_t>(0, here.start_ns - idle_from_ns));
        const std::int64_t from_ns = std::max(here.start_ns, sum.latest_end_ns);
        events::add_to(sum.busy_ns, std::max<std::int64_t>(0, here.end_ns - from_ns));
        sum.latest_end_ns = std::max(sum.latest_end_ns, here.end_ns);
        sum.kernels_with_queue += here.queued_ns ? 1 : 0;
    }
}

const device_activity& device_coverage::activity(std::size_t position) const {
    return loaded_.device_activities[loaded_.stream_order[position]];
}

/// Where it is not known that it was queued, it was not.
std::int64_t device_coverage::queue_began(std::size_t position) const {
    const device_activity& here = activity(position);
    return here.queued_ns.value_or(here.start_ns);
}

/// Up to `time_ns`, of what the wait was for and what the stream did before.
device_coverage::until device_coverage::until_moment(const device_wait& wait,
                                                     std::int64_t time_ns) const {
    const std::size_t last = wait.activities.back();
    std::size_t first = sums_[last].first, end = last + 1;
    const std::size_t stream = first;
    while (first < end) {  // the first that began behind that moment
        const std::size_t middle = (first + end) / 2;
        if (activity(middle).start_ns <= time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    until found;
    std::int64_t idle_from_ns = 0;
    if (first != stream) {
        const sums& before = sums_[first - 1];
        idle_from_ns = before.latest_end_ns;
        found.busy_ns = before.busy_ns - std::max<std::int64_t>(0, idle_from_ns - time_ns);
        found.queued_ns = before.queued_ns;
    }
    if (first <= last)
        found.queued_ns +=
            std::max<std::int64_t>(0, time_ns - std::max(queue_began(first), idle_from_ns));
    return found;
}

void device_coverage::add(device_share& share, const device_wait& wait, std::int64_t from_ns,
                          std::int64_t to_ns) const {
    ++share.waits;
    if (wait.activities.empty() || wait.activities.back() >= sums_.size()) return;
    const sums& last = sums_[wait.activities.back()];
    const until before = until_moment(wait, from_ns);
    const until after = until_moment(wait, to_ns);
    const std::int64_t first_ns = activity(wait.activities.front()).start_ns;
    share.start_ns = std::min(share.start_ns.value_or(first_ns), first_ns);
    share.end_ns = std::max(share.end_ns.value_or(last.latest_end_ns), last.latest_end_ns);
    const std::int64_t busy_ns = after.busy_ns - before.busy_ns;
    const std::int64_t queued_ns = after.queued_ns - before.queued_ns;
    const bool is_busiest = share.waits == 1 || busy_ns > share.covered_ns;
    if (!is_busiest) return;
    share.covered_ns = busy_ns;
    share.queued_ns = last.kernels_with_queue != 0 ? optional_ns(queued_ns) : std::nullopt;
}

device_share device_coverage::of(std::uint32_t await) const {
    device_share share;
    if (loaded_.device_waits.empty() || await >= loaded_.awaits.size()) return share;
    const await_info& suspended = loaded_.awaits[await];
    for (const std::uint32_t wait : find_device_waits(loaded_, await))
        add(share, loaded_.device_waits[wait], suspended.suspend_ns,
            end_of_wait(loaded_, suspended));
    return share;
}

device_work awaited_work(const trace& loaded, std::vector<std::uint32_t> waits) {
    device_work work;
    std::sort(waits.begin(), waits.end(), [&loaded](std::uint32_t left, std::uint32_t right) {
        const index_range& one = loaded.device_waits[left].activities;
        const index_range& other = loaded.device_waits[right].activities;
        const std::uint32_t first = one.empty() ? none : one.front();
        const std::uint32_t second = other.empty() ? none : other.front();
        return first != second ? first < second : left < right;
    });
    std::uint32_t next = 0;  // what stands before has been looked at
    for (const std::uint32_t index : waits) {
        const device_wait& wait = loaded.device_waits[index];
        work.streams.push_back(wait.stream);
        if (wait.await >= loaded.awaits.size() || wait.activities.empty()) continue;
        const await_info& await = loaded.awaits[wait.await];
        const std::int64_t until_ns = end_of_wait(loaded, await);
        for (next = std::max(next, wait.activities.front()); next <= wait.activities.back(); ++next)
            if (overlaps(loaded.device_activities[loaded.stream_order[next]], await, until_ns))
                add(work, loaded, loaded.stream_order[next]);
    }
    std::sort(work.streams.begin(), work.streams.end());
    work.streams.erase(std::unique(work.streams.begin(), work.streams.end()), work.streams.end());
    return work;
}

device_work awaited_work(const trace& loaded, std::uint32_t await) {
    const index_range waits = find_device_waits(loaded, await);
    std::vector<std::uint32_t> all;
    for (const std::uint32_t each : waits) all.push_back(each);
    return awaited_work(loaded, std::move(all));
}

device_work work_of_task(const trace& loaded, std::uint32_t task) {
    device_work work;
    for (std::uint32_t at = 0; at < loaded.device_activities.size(); ++at)
        if (loaded.device_activities[at].task == task &&
            is_device_work(loaded.device_activities[at].what))
            add(work, loaded, at);
    return work;
}

std::vector<std::int64_t> device_time_of_tasks(const trace& loaded) {
    std::vector<std::int64_t> times;
    for (const device_activity& each : loaded.device_activities) {
        if (!is_device_work(each.what)) continue;
        if (times.empty()) times.resize(loaded.tasks.size());
        if (each.task < times.size()) events::add_to(times[each.task], each.end_ns - each.start_ns);
    }
    return times;
}

}  // namespace coroscope::analysis
