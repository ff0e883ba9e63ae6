// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/device_statistics.hpp>

#include <algorithm>
#include <cstddef>

#include "../events/saturated.hpp"
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
        if (wait.stream == none) {
            ++work.unknown;
            continue;
        }
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
        if (each.task < times.size()) events::add_to(times[each.task], each.end_ns - each.start_ns);
    }
    return times;
}

}  // namespace coroscope::analysis
