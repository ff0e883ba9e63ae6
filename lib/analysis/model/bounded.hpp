// SPDX-License-Identifier: Apache-2.0
#pragma once

// The range of the figures that a file may hold. Sums of them saturate (saturated.hpp).

#include <algorithm>
#include <cstdint>

#include <coroscope/analysis/saturated.hpp>

namespace coroscope::analysis::inline model {

/// Larger times and sizes are cut to this value, so that the difference of two of them fits 64
/// bits.
inline constexpr std::int64_t largest_figure = (std::int64_t{1} << 62) - 1;

[[nodiscard]] constexpr std::int64_t bounded(std::int64_t figure) {
    return std::clamp(figure, -largest_figure, largest_figure);
}

}  // namespace coroscope::analysis::inline model
