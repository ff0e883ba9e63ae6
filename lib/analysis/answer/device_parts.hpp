// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of the figures of devices: the moment until which an await waits for them, and the work
// that a range requested.

#include <cstdint>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

/// The moment by which the work that an await waited for was done: its wake, else its resume.
inline std::int64_t end_of_wait(const trace& loaded, const await_info& await) {
    const time_split time = split_of(loaded, await);
    return await.suspend_ns + time.suspended_ns + time.waiting_ns;
}

/// Calls `use` with the index of each activity that a range requested. Skips indices out of range,
/// which a model that was made by hand may have.
template <class Use>
void for_each_activity(const trace& loaded, const device_range& range, const Use& use) {
    for (const std::uint32_t at : range.work) {
        if (at >= loaded.range_work.size() || loaded.range_work[at] >= loaded.stream_order.size())
            continue;
        const std::uint32_t activity = loaded.stream_order[loaded.range_work[at]];
        if (activity < loaded.device_activities.size()) use(activity);
    }
}

}  // namespace coroscope::analysis::inline answers
