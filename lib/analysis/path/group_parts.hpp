// SPDX-License-Identifier: Apache-2.0
#pragma once

// The differences between the critical paths of two groups of requests.

#include <span>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/slow_requests.hpp>

#include "group_shares.hpp"

namespace coroscope::analysis::inline paths {

/// The differences of two groups.
struct group_differences {
    /// All parts, without their shares, the largest difference first. Their slow_ns add up exactly
    /// to the mean wall time of the slow requests, rounded down; their median_ns to that of the
    /// median ones.
    std::vector<request_difference> parts;
    group_uses uses;
};

/// No group may be empty.
[[nodiscard]] group_differences differences_of(const trace& loaded,
                                               std::span<const request_info> slow,
                                               std::span<const request_info> median);

}  // namespace coroscope::analysis::inline paths
