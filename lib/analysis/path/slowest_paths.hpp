// SPDX-License-Identifier: Apache-2.0
#pragma once

// The requests that have a timeline of their own in an export.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <coroscope/analysis/chrome_totals.hpp>
#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

/// Returns the slowest requests, the slowest first, at most `most`. Those that are not whole
/// (request_info::is_whole()) come last; those without recorded work are left out.
[[nodiscard]] std::vector<request_info> slowest_requests(std::span<const request_info> requests,
                                                         std::size_t most);

/// "GET /search 820, 21.5 ms".
[[nodiscard]] std::string request_title(const trace& from, const request_info& request);

}  // namespace coroscope::analysis::inline paths
