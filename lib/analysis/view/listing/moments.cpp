// SPDX-License-Identifier: Apache-2.0
#include "moments.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace coroscope::analysis::inline listings {
namespace {

std::uint64_t power_of_ten(int exponent) {
    std::uint64_t power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

std::uint64_t distance(std::int64_t earlier, std::int64_t later) {
    return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

/// Returns the smallest distance between two different moments, or 0 if all are equal. The moments
/// must be sorted.
std::uint64_t smallest_distance(const std::vector<std::int64_t>& moments) {
    std::uint64_t smallest = 0;
    for (std::size_t at = 1; at < moments.size(); ++at) {
        const std::uint64_t each = distance(moments[at - 1], moments[at]);
        if (each != 0 && (smallest == 0 || each < smallest)) smallest = each;
    }
    return smallest;
}

time_unit unit_of(std::int64_t nanoseconds) {
    if (nanoseconds >= 1'000'000'000) return time_unit::seconds;
    return nanoseconds >= 1'000'000 ? time_unit::milliseconds : time_unit::microseconds;
}

}  // namespace

moment_format::moment_format(std::vector<std::int64_t> moments, time_unit unit) {
    std::sort(moments.begin(), moments.end());
    if (unit == time_unit::automatic) unit = unit_of(moments.empty() ? 0 : moments.back());
    if (unit == time_unit::seconds) {
        exponent_ = 9;
        suffix_ = "s";
    } else if (unit == time_unit::milliseconds) {
        exponent_ = 6;
        suffix_ = "ms";
    }
    const std::uint64_t nearest = smallest_distance(moments);
    if (nearest == 0) return;
    while (digits_ < exponent_ && power_of_ten(exponent_ - digits_) > nearest) ++digits_;
}

std::string moment_format::text(std::int64_t nanoseconds) const {
    const bool negative = nanoseconds < 0;
    const std::uint64_t magnitude =
        negative ? distance(nanoseconds, 0) : static_cast<std::uint64_t>(nanoseconds);
    const std::uint64_t step = power_of_ten(exponent_ - digits_);
    const std::uint64_t rounded = magnitude / step + (magnitude % step * 2 >= step ? 1 : 0);
    const std::uint64_t whole = power_of_ten(digits_);
    return fmt::format("{}{}.{:0{}}{}", negative ? "-" : "", rounded / whole, rounded % whole,
                       digits_, suffix_);
}

std::vector<std::int64_t> moments_of(const listing& list) {
    std::vector<std::int64_t> moments;
    for (std::size_t at = 0; at < list.columns.size(); ++at) {
        if (list.columns[at].kind != cell_kind::moment) continue;
        for (const auto& row : list.rows) {
            const auto* moment = std::get_if<optional_ns>(&row[at]);
            if (moment != nullptr && *moment) moments.push_back(**moment);
        }
    }
    return moments;
}

}  // namespace coroscope::analysis::inline listings
