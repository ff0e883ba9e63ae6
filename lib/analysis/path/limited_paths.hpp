// SPDX-License-Identifier: Apache-2.0
#pragma once

// Critical paths up to a number of segments.

#include <cstddef>
#include <functional>
#include <span>

#include <coroscope/analysis/critical_path.hpp>

namespace coroscope::analysis::inline paths {

/// As for_each_critical_path(), but begins no path after so many segments and waits in all. Returns
/// the number of the paths.
std::size_t for_each_path_within(const trace& loaded, std::span<const request_info> requests,
                                 const path_options& options, std::size_t most_segments,
                                 const std::function<void(const critical_path&)>& use);

}  // namespace coroscope::analysis::inline paths
