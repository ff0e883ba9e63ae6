// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the categories of a trace file mean.

#include <cstdint>
#include <string_view>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::reading {

struct category_meaning {
    activity what = activity::other;
    device_kind device = device_kind::cpu;
    std::uint16_t flags = 0;  ///< event_row_flags
};

/// The meaning of a category as Kineto spells it, or as it did in 2021; activity::other for everybody else's.
[[nodiscard]] category_meaning meaning_of(std::string_view category);

}  // namespace coroscope::analysis::reading
