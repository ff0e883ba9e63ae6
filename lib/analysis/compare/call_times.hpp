// SPDX-License-Identifier: Apache-2.0
#pragma once

// The low time of a row's calls, and the variance that the run itself shows.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/comparison.hpp>

namespace coroscope::analysis::inline compare {

/// Computes the figures of these times, which must be in the order of the calls. Reorders them.
[[nodiscard]] call_times call_times_of(std::vector<std::int64_t>& times_ns);

}  // namespace coroscope::analysis::inline compare
