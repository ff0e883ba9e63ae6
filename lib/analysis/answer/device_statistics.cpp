// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/device_statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "../model/bounded.hpp"
#include "device_parts.hpp"

namespace coroscope::analysis {
namespace {

using what_kind = coroscope::trace::device_activity;

void add(device_work& sum, const trace& loaded, std::uint32_t index) {
    const device_activity& added = loaded.device_activities[index];
    const std::int64_t length_ns = added.end_ns - added.start_ns;
    device_part& part = added.what == what_kind::kernel ? sum.kernels
                        : added.what == what_kind::copy ? sum.copies
                                                        : sum.sets;
    ++part.count;
    add_to(part.total_ns, length_ns);
    if (added.what != what_kind::kernel) return;
    if (sum.longest != none) {
        const device_activity& longest = loaded.device_activities[sum.longest];
        if (length_ns <= longest.end_ns - longest.start_ns) return;
    }
    sum.longest = index;
}

/// The positions of a stream that have not been settled yet. Each position can be settled once.
class unsettled_stretch {
public:
    unsettled_stretch(std::uint32_t first, std::uint32_t last)
        : first_(first), next_(std::size_t{last} - first + 2) {
        std::iota(next_.begin(), next_.end(), std::uint32_t{0});
    }

    /// Returns the first unsettled position from `position` on, or the position after the last one.
    std::uint32_t from(std::uint32_t position) {
        std::uint32_t at = position - first_;
        while (next_[at] != at) at = next_[at] = next_[next_[at]];
        return first_ + at;
    }
    void settle(std::uint32_t position) { ++next_[position - first_]; }

private:
    std::uint32_t first_;
    std::vector<std::uint32_t> next_;  ///< its own index if not settled
};

/// Adds up the activities that waits for one stream covered. An activity that several waits covered
/// counts once.
class stream_sum {
public:
    stream_sum(device_work& sum, const trace& loaded, std::span<const std::uint32_t> waits)
        : sum_(sum), loaded_(loaded), stretch_(first_of(waits), last_of(waits)) {}

    /// Waits must come in the order of their suspensions' starts, because activities that ended
    /// before a suspension are settled.
    void add_wait(const device_wait& wait) {
        const await_info& await = loaded_.awaits[wait.await];
        const std::int64_t until_ns = end_of_wait(loaded_, await);
        for (std::uint32_t at = stretch_.from(wait.activities.front());
             at <= wait.activities.back(); at = stretch_.from(at)) {
            const device_activity& ran = loaded_.device_activities[loaded_.stream_order[at]];
            if (ran.start_ns >= until_ns) break;
            if (ran.end_ns > await.suspend_ns) add(sum_, loaded_, loaded_.stream_order[at]);
            stretch_.settle(at);
        }
    }

private:
    [[nodiscard]] std::uint32_t first_of(std::span<const std::uint32_t> waits) const {
        std::uint32_t first = none;
        for (const std::uint32_t each : waits)
            first = std::min(first, loaded_.device_waits[each].activities.front());
        return first;
    }
    [[nodiscard]] std::uint32_t last_of(std::span<const std::uint32_t> waits) const {
        std::uint32_t last = 0;
        for (const std::uint32_t each : waits)
            last = std::max(last, loaded_.device_waits[each].activities.back());
        return last;
    }

    device_work& sum_;
    const trace& loaded_;
    unsettled_stretch stretch_;
};

/// Sorts waits by stream, then by the start of their suspension.
void order_waits(std::vector<std::uint32_t>& waits, const trace& loaded) {
    const auto place = [&loaded](std::uint32_t of) {
        const device_wait& wait = loaded.device_waits[of];
        return std::tuple(wait.context, wait.stream, loaded.awaits[wait.await].suspend_ns, of);
    };
    std::sort(waits.begin(), waits.end(), [&place](std::uint32_t left, std::uint32_t right) {
        return place(left) < place(right);
    });
}

void add_waits(device_work& sum, const trace& loaded, std::vector<std::uint32_t> waits) {
    order_waits(waits, loaded);
    for (auto first = waits.begin(); first != waits.end();) {
        const device_wait& of = loaded.device_waits[*first];
        const auto last = std::find_if(first, waits.end(), [&](std::uint32_t each) {
            const device_wait& other = loaded.device_waits[each];
            return other.context != of.context || other.stream != of.stream;
        });
        stream_sum stream(sum, loaded, {first, last});
        for (; first != last; ++first) stream.add_wait(loaded.device_waits[*first]);
    }
}

}  // namespace

device_work awaited_work(const trace& loaded, std::vector<std::uint32_t> waits) {
    device_work work;
    for (const std::uint32_t each : waits) {
        const std::uint32_t stream = loaded.device_waits[each].stream;
        if (stream == none)
            ++work.unknown;
        else
            work.streams.push_back(stream);
    }
    std::erase_if(waits, [&loaded](std::uint32_t each) {
        const device_wait& wait = loaded.device_waits[each];
        return wait.stream == none || wait.await >= loaded.awaits.size() || wait.activities.empty();
    });
    add_waits(work, loaded, std::move(waits));
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

device_work work_of_range(const trace& loaded, std::uint32_t range) {
    device_work work;
    if (range >= loaded.device_ranges.size()) return work;
    const device_range& of = loaded.device_ranges[range];
    if (of.stream == none)
        ++work.unknown;
    else
        work.streams.push_back(of.stream);
    for_each_activity(loaded, of, [&](std::uint32_t activity) { add(work, loaded, activity); });
    return work;
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
        if (each.task < times.size()) add_to(times[each.task], each.end_ns - each.start_ns);
    }
    return times;
}

}  // namespace coroscope::analysis
