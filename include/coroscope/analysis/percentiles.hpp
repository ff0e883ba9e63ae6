// SPDX-License-Identifier: Apache-2.0
#pragma once

// Percentiles of durations, computed by nearest rank: each percentile is one of the given
// durations.

#include <cstdint>
#include <vector>

#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// All zero if there was no duration.
struct percentiles {
    std::uint64_t count = 0;
    std::int64_t p50_ns = 0;
    std::int64_t p90_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t max_ns = 0;
    std::int64_t p95_ns = 0;
};

/// Returns the percentiles of `durations_ns`, and reorders that vector.
COROSCOPE_API percentiles percentiles_of(std::vector<std::int64_t>& durations_ns);

}  // namespace coroscope::analysis
