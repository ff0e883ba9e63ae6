// SPDX-License-Identifier: Apache-2.0
#include "device_times.hpp"

#include <coroscope/analysis/averages.hpp>

#include "../model/bounded.hpp"
#include "device_parts.hpp"

namespace coroscope::analysis::inline answers {

device_times::device_times(const trace& loaded) {
    for (const device_activity& each : loaded.device_activities) {
        if (!is_device_work(each.what) || each.event >= loaded.events.size()) continue;
        if (own_ns_.empty()) own_ns_.resize(loaded.events.size());
        add_to(own_ns_[each.event], each.end_ns - each.start_ns);
    }
    if (!loaded.range_work.empty()) own_ns_.resize(loaded.events.size());
    total_ns_ = own_ns_;
    for (std::size_t at = total_ns_.size(); at-- > 0;) {
        const std::uint32_t parent = loaded.events[at].parent;
        if (parent < at) add_to(total_ns_[parent], total_ns_[at]);
    }
    if (any()) add_ranges(loaded);
}

/// A range that ended with a stream is outside the tree of scopes. It has a total only: the work
/// that it requested counts as the own work of the scopes that launched it.
void device_times::add_ranges(const trace& loaded) {
    for (const device_range& each : loaded.device_ranges)
        if (each.event < total_ns_.size())
            for_each_activity(loaded, each, [&](std::uint32_t at) {
                const device_activity& ran = loaded.device_activities[at];
                add_to(total_ns_[each.event], ran.end_ns - ran.start_ns);
            });
}

}  // namespace coroscope::analysis::inline answers

namespace coroscope::analysis {

std::int64_t self_device_time_total_ns(const trace& loaded) {
    std::int64_t sum_ns = 0;
    for (const device_activity& each : loaded.device_activities)
        if (is_device_work(each.what)) add_to(sum_ns, each.end_ns - each.start_ns);
    return sum_ns;
}

}  // namespace coroscope::analysis
