// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figures that a file may hold, and sums of them that stay at the end of the range.

#include <algorithm>
#include <cstdint>

#include <coroscope/analysis/saturated.hpp>

namespace coroscope::analysis::events {

using analysis::add_to;
using analysis::saturated_difference;
using analysis::saturated_sum;

/// Times and sizes beyond it are taken as it; between two of them lies no more than 64 bits hold.
inline constexpr std::int64_t largest_figure = (std::int64_t{1} << 62) - 1;

[[nodiscard]] constexpr std::int64_t bounded(std::int64_t figure) {
    return std::clamp(figure, -largest_figure, largest_figure);
}

}  // namespace coroscope::analysis::events
