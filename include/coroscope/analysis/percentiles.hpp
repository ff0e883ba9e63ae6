// SPDX-License-Identifier: Apache-2.0
#pragma once

// Percentiles of durations, by nearest rank: each is a duration that occurred.

#include <cstdint>
#include <vector>

#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// All zero where there was no duration.
struct percentiles {
    std::uint64_t count = 0;
    std::int64_t p50_ns = 0;
    std::int64_t p90_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t max_ns = 0;
    std::int64_t p95_ns = 0;
};

/// The percentiles of `durations_ns`, which is reordered.
COROSCOPE_API percentiles percentiles_of(std::vector<std::int64_t>& durations_ns);

}  // namespace coroscope::analysis
