// SPDX-License-Identifier: Apache-2.0

// The part of a stretch of time that the work of devices explains.

#include <coroscope/analysis/device_statistics.hpp>

#include <algorithm>
#include <cstddef>

#include "../model/bounded.hpp"
#include "device_parts.hpp"

namespace coroscope::analysis {

/// A union of stretches of time: a moment that several of them contain counts once.
class device_coverage::stretches {
public:
    explicit stretches(const stretch& within) : within_(within) {}

    void add(const stretch& added) {
        const stretch cut{std::max(added.start_ns, within_.start_ns),
                          std::min(added.end_ns, within_.end_ns)};
        if (cut.start_ns < cut.end_ns) all_.push_back(cut);
    }
    [[nodiscard]] std::int64_t length_ns() {
        std::sort(all_.begin(), all_.end(), [](const stretch& left, const stretch& right) {
            return left.start_ns < right.start_ns;
        });
        std::int64_t sum_ns = 0, done_ns = within_.start_ns;
        for (const stretch& each : all_) {
            sum_ns += std::max<std::int64_t>(0, each.end_ns - std::max(each.start_ns, done_ns));
            done_ns = std::max(done_ns, each.end_ns);
        }
        return sum_ns;
    }

private:
    stretch within_;
    std::vector<stretch> all_;
};

device_coverage::device_coverage(const trace& loaded) : loaded_(loaded) {
    // A model that was not made by load() may have indices out of range. Then nothing is covered.
    const std::size_t known = loaded.device_activities.size();
    if (std::any_of(loaded.stream_order.begin(), loaded.stream_order.end(),
                    [known](std::uint32_t at) { return at >= known; }))
        return;
    sums_.resize(loaded.stream_order.size());
    for (std::size_t at = 0; at < sums_.size(); ++at) {
        const device_activity& here = activity(at);
        sums& sum = sums_[at];
        const stretch queue = queued(at);
        sum.first = static_cast<std::uint32_t>(at);
        sum.latest_end_ns = here.start_ns;
        if (goes_on(at)) sum = sums_[at - 1];
        add_to(sum.queued_ns, queue.end_ns - queue.start_ns);
        const std::int64_t from_ns = std::max(here.start_ns, sum.latest_end_ns);
        add_to(sum.busy_ns, std::max<std::int64_t>(0, here.end_ns - from_ns));
        sum.latest_end_ns = std::max(sum.latest_end_ns, here.end_ns);
        sum.kernels_with_queue += here.queued_ns ? 1 : 0;
    }
}

const device_activity& device_coverage::activity(std::size_t position) const {
    return loaded_.device_activities[loaded_.stream_order[position]];
}

/// Returns whether the activity before this position is on the same stream.
bool device_coverage::goes_on(std::size_t position) const {
    return position != 0 && activity(position - 1).context == activity(position).context &&
           activity(position - 1).stream == activity(position).stream;
}

/// The time at which the activity entered its queue. If it is unknown, the activity counts as not
/// queued.
std::int64_t device_coverage::queue_began(std::size_t position) const {
    const device_activity& here = activity(position);
    return here.queued_ns.value_or(here.start_ns);
}

/// The time that the activity was queued while its stream ran nothing else.
device_coverage::stretch device_coverage::queued(std::size_t position) const {
    const std::int64_t idle_from_ns = goes_on(position) ? sums_[position - 1].latest_end_ns : 0;
    const std::int64_t start_ns = activity(position).start_ns;
    return {std::min(start_ns, std::max(queue_began(position), idle_from_ns)), start_ns};
}

bool device_coverage::knows(const index_range& positions) const {
    return !positions.empty() && positions.back() < sums_.size();
}

/// The time covered up to `time_ns` by the activities at these positions and by the stream's work
/// before them.
device_coverage::until device_coverage::until_moment(const index_range& positions,
                                                     std::int64_t time_ns) const {
    const std::size_t last = positions.back();
    std::size_t first = sums_[last].first, end = last + 1;
    const std::size_t stream = first;
    while (first < end) {  // finds the first activity that began after `time_ns`
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

/// Adds what one stream explains. If an await waited for several streams, the share keeps the
/// largest part.
void device_coverage::add(device_share& share, const index_range& positions,
                          const stretch& within) const {
    ++share.waits;
    if (!knows(positions)) return;
    const sums& last = sums_[positions.back()];
    const until before = until_moment(positions, within.start_ns);
    const until after = until_moment(positions, within.end_ns);
    const std::int64_t first_ns = activity(positions.front()).start_ns;
    share.start_ns = std::min(share.start_ns.value_or(first_ns), first_ns);
    share.end_ns = std::max(share.end_ns.value_or(last.latest_end_ns), last.latest_end_ns);
    const std::int64_t busy_ns = after.busy_ns - before.busy_ns;
    const std::int64_t queued_ns = after.queued_ns - before.queued_ns;
    const bool is_busiest = share.waits == 1 || busy_ns > share.covered_ns;
    if (!is_busiest) return;
    share.covered_ns = busy_ns;
    share.queued_ns = last.kernels_with_queue != 0 ? optional_ns(queued_ns) : std::nullopt;
}

/// Computes the share of all streams of an await together: work that ran on several streams at one
/// time counts once.
void device_coverage::unite(device_share& share, std::uint32_t await, const stretch& within) const {
    std::size_t all = 0;
    for (const std::uint32_t wait : find_device_waits(loaded_, await))
        all += loaded_.device_waits[wait].activities.size();
    if (all > most_united) return;
    stretches ran(within);
    stretches ran_or_queued(within);
    bool knows_queue = false;
    for (const std::uint32_t wait : find_device_waits(loaded_, await)) {
        const index_range& positions = loaded_.device_waits[wait].activities;
        if (!knows(positions)) continue;
        for (const std::uint32_t at : positions) {
            const stretch run{activity(at).start_ns, activity(at).end_ns};
            ran.add(run);
            ran_or_queued.add(run);
            ran_or_queued.add(queued(at));
            knows_queue = knows_queue || activity(at).queued_ns.has_value();
        }
    }
    share.covered_ns = ran.length_ns();
    share.queued_ns =
        knows_queue ? optional_ns(ran_or_queued.length_ns() - share.covered_ns) : std::nullopt;
}

device_share device_coverage::of(std::uint32_t await) const {
    device_share share;
    if (loaded_.device_waits.empty() || await >= loaded_.awaits.size()) return share;
    const await_info& suspended = loaded_.awaits[await];
    const stretch within{suspended.suspend_ns, end_of_wait(loaded_, suspended)};
    for (const std::uint32_t wait : find_device_waits(loaded_, await)) {
        if (loaded_.device_waits[wait].stream == none)
            ++share.unknown;
        else
            add(share, loaded_.device_waits[wait].activities, within);
    }
    if (share.waits > 1) unite(share, await, within);
    return share;
}

device_share device_coverage::of_range(std::uint32_t range) const {
    device_share share;
    if (range >= loaded_.device_ranges.size()) return share;
    const device_range& of = loaded_.device_ranges[range];
    if (of.stream == none) {
        ++share.unknown;
        return share;
    }
    ++share.waits;
    std::int64_t queued_ns = 0;
    bool knows_queue = false;
    for (const std::uint32_t at : of.work) {
        if (at >= loaded_.range_work.size() || loaded_.range_work[at] >= sums_.size()) continue;
        const std::size_t position = loaded_.range_work[at];
        const device_activity& ran = activity(position);
        const std::int64_t from_ns = std::max(ran.start_ns, share.end_ns.value_or(ran.start_ns));
        add_to(share.covered_ns, std::max<std::int64_t>(0, ran.end_ns - from_ns));
        share.start_ns = std::min(share.start_ns.value_or(ran.start_ns), ran.start_ns);
        share.end_ns = std::max(share.end_ns.value_or(ran.end_ns), ran.end_ns);
        const stretch queue = queued(position);
        add_to(queued_ns, queue.end_ns - queue.start_ns);
        knows_queue = knows_queue || ran.queued_ns.has_value();
    }
    if (knows_queue) share.queued_ns = queued_ns;
    return share;
}

}  // namespace coroscope::analysis
