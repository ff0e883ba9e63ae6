// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes moments as text. A view writes all its moments in one unit, with enough digits to
// distinguish the closest two.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/listing.hpp>

namespace coroscope::analysis::inline listings {

class moment_format {
public:
    /// The format for a view that shows these moments, in any order. `automatic` chooses the unit
    /// by the latest moment.
    moment_format(std::vector<std::int64_t> moments, time_unit unit);

    /// Writes at least three decimals, and the unit without a space: "3.2780412s".
    [[nodiscard]] std::string text(std::int64_t nanoseconds) const;

private:
    int exponent_ = 3;  ///< the unit is 10^exponent_ nanoseconds
    int digits_ = 3;
    const char* suffix_ = "us";
};

/// Returns the moments in the cells of a listing.
[[nodiscard]] std::vector<std::int64_t> moments_of(const listing& list);

}  // namespace coroscope::analysis::inline listings
