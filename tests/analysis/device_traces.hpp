// SPDX-License-Identifier: Apache-2.0
#pragma once

// Helpers for tests of devices: kernels in built traces, and checks that hold for every trace with
// devices.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "trace_builder.hpp"
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::test {

/// The first activity of that name.
inline const analysis::device_activity& activity(const analysis::trace& loaded,
                                                 std::string_view name) {
    const auto found =
        std::find_if(loaded.device_activities.begin(), loaded.device_activities.end(),
                     [&](const auto& candidate) { return loaded.strings[candidate.name] == name; });
    REQUIRE(found != loaded.device_activities.end());
    return *found;
}

inline device_values kernel(std::uint32_t site, std::int64_t start, std::int64_t end,
                            std::uint32_t correlation, std::uint32_t stream = 7) {
    return {.start = start, .end = end, .site = site, .correlation = correlation, .stream = stream};
}

/// The names of the activities that one device wait covers.
inline std::vector<std::string> awaited(const analysis::trace& loaded,
                                        const analysis::device_wait& wait) {
    std::vector<std::string> names;
    for (const std::uint32_t at : wait.activities)
        names.push_back(loaded.strings[loaded.device_activities[loaded.stream_order[at]].name]);
    return names;
}

/// Whether all indices are valid, activities are sorted by start, and none ends before it begins.
inline bool devices_are_sound(const analysis::trace& loaded) {
    const auto fits = [](std::uint32_t index, std::size_t size) {
        return index == analysis::none || index < size;
    };
    const auto& all = loaded.device_activities;
    for (std::size_t at = 0; at < all.size(); ++at) {
        const analysis::device_activity& each = all[at];
        if (each.end_ns < each.start_ns || each.start_ns < 0 || each.end_ns > loaded.duration_ns)
            return false;
        if (at > 0 && each.start_ns < all[at - 1].start_ns) return false;
        if (each.bytes < 0 || each.name >= loaded.strings.size()) return false;
        if (!fits(each.device, loaded.devices.size()) || !fits(each.task, loaded.tasks.size()) ||
            !fits(each.thread, loaded.threads.size()) || !fits(each.call, all.size()) ||
            !fits(each.event, loaded.events.size()))
            return false;
        if (each.call != analysis::none && !analysis::is_call(all[each.call].what)) return false;
    }
    for (const std::uint32_t at : loaded.stream_order)
        if (at >= all.size()) return false;
    for (const analysis::device_wait& each : loaded.device_waits) {
        if (!fits(each.await, loaded.awaits.size()) || !fits(each.task, loaded.tasks.size()))
            return false;
        if (!fits(each.call, all.size())) return false;
        for (const std::uint32_t at : each.activities)
            if (at >= loaded.stream_order.size()) return false;
    }
    for (const analysis::device_range& each : loaded.device_ranges) {
        if (!fits(each.event, loaded.events.size()) || !fits(each.task, loaded.tasks.size()) ||
            !fits(each.thread, loaded.threads.size()) || each.name >= loaded.strings.size())
            return false;
        for (const std::uint32_t at : each.work)
            if (at >= loaded.range_work.size() ||
                loaded.range_work[at] >= loaded.stream_order.size())
                return false;
    }
    return true;
}

/// Whether devices explain at most the whole of each suspension and of each range.
inline bool shares_are_sound(const analysis::trace& loaded) {
    const analysis::device_coverage coverage(loaded);
    for (std::uint32_t at = 0; at < loaded.awaits.size(); ++at) {
        const analysis::device_share share = coverage.of(at);
        const std::int64_t queued_ns = share.queued_ns.value_or(0);
        if (share.covered_ns < 0 || queued_ns < 0) return false;
        const analysis::time_split time = analysis::split_of(loaded, loaded.awaits[at]);
        if (share.covered_ns + queued_ns > time.suspended_ns + time.waiting_ns) return false;
    }
    for (std::uint32_t at = 0; at < loaded.device_ranges.size(); ++at) {
        const analysis::device_share share = coverage.of_range(at);
        if (share.covered_ns < 0 || share.queued_ns.value_or(0) < 0) return false;
        if (share.start_ns && share.covered_ns > *share.end_ns - *share.start_ns) return false;
    }
    return true;
}

}  // namespace coroscope::test
