// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sums that saturate at the limits of their range, because a file may contain any number. Pure
// functions; safe on any thread.

#include <cstdint>

namespace coroscope::analysis {

[[nodiscard]] constexpr std::int64_t saturated_sum(std::int64_t one, std::int64_t other) noexcept {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(one, other, &sum)) return other < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

[[nodiscard]] constexpr std::int64_t saturated_difference(std::int64_t one,
                                                          std::int64_t other) noexcept {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(one, other, &difference)) return other < 0 ? INT64_MAX : INT64_MIN;
    return difference;
}

/// Adds `added` to `sum`, saturated.
constexpr void add_to(std::int64_t& sum, std::int64_t added) noexcept {
    sum = analysis::saturated_sum(sum, added);
}

}  // namespace coroscope::analysis
