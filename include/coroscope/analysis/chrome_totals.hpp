// SPDX-License-Identifier: Apache-2.0
#pragma once

// The size of a drawn timeline, in Chrome's format and in Perfetto's.

#include <cstdint>

namespace coroscope::analysis {

/// At most this number of requests has a lane or a timeline of its own in an export. The slowest
/// are chosen.
inline constexpr std::uint32_t most_request_timelines = 50;

/// The number of things that an export wrote.
struct chrome_totals {
    std::uint64_t scopes = 0;
    std::uint64_t slices = 0;
    std::uint64_t tasks = 0;
    std::uint64_t awaits = 0;
    std::uint64_t device_activities = 0;
    std::uint64_t flows = 0;
    std::uint64_t left_out = 0;  ///< overlapped more than the lanes beside could take
};

}  // namespace coroscope::analysis
