// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of the categories of a trace file.

#include <cstdint>
#include <string_view>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline chrome {

struct category_meaning {
    activity what = activity::other;
    device_kind device = device_kind::cpu;
    std::uint16_t flags = 0;  ///< event_row_flags
    /// Torch's name of the device, such as "mtia"; empty if the category names no device.
    std::string_view device_name{};
};

/// Returns the meaning of a category of Kineto, in today's spelling or that of 2021, and
/// activity::other for any other category.
[[nodiscard]] category_meaning meaning_of(std::string_view category);

}  // namespace coroscope::analysis::inline chrome
