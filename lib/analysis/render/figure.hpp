// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::render {

/// A count as a cell of a listing; one that no such cell holds is shown as the largest that it does.
inline optional_ns figure(std::uint64_t count) {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(count, largest));
}

}  // namespace coroscope::analysis::render
