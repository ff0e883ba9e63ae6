// SPDX-License-Identifier: Apache-2.0
#include "device_times.hpp"

#include <coroscope/analysis/averages.hpp>

#include "../events/saturated.hpp"

namespace coroscope::analysis {

device_times::device_times(const trace& loaded) {
    for (const device_activity& each : loaded.device_activities) {
        if (!is_device_work(each.what) || each.event >= loaded.events.size()) continue;
        if (own_ns_.empty()) own_ns_.resize(loaded.events.size());
        events::add_to(own_ns_[each.event], each.end_ns - each.start_ns);
    }
    total_ns_ = own_ns_;
    for (std::size_t at = total_ns_.size(); at-- > 0;) {
        const std::uint32_t parent = loaded.events[at].parent;
        if (parent < at) events::add_to(total_ns_[parent], total_ns_[at]);
    }
}

std::int64_t self_device_time_total_ns(const trace& loaded) {
    std::int64_t sum_ns = 0;
    for (const device_activity& each : loaded.device_activities)
        if (is_device_work(each.what)) events::add_to(sum_ns, each.end_ns - each.start_ns);
    return sum_ns;
}

}  // namespace coroscope::analysis
