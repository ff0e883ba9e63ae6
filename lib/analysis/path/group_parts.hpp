// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of the critical paths of two groups of requests.

#include <span>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/slow_requests.hpp>

namespace coroscope::analysis::inline paths {

/// Returns all parts, without their shares, the largest difference first. Their slow_ns add up
/// exactly to the mean wall time of the slow requests, rounded down; their median_ns to that of the
/// median ones. No group may be empty.
[[nodiscard]] std::vector<request_difference> differences_of(const trace& loaded,
                                                             std::span<const request_info> slow,
                                                             std::span<const request_info> median);

}  // namespace coroscope::analysis::inline paths
