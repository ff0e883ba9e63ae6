// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frame of a page: its markup, style and script, which the build joins from the files in
// assets/ (assets/join.py).

#include <cstdint>
#include <span>
#include <string_view>

namespace coroscope::analysis::inline pages {

/// A place of the frame at which data follow.
enum class page_place : std::uint8_t { title, summary, timeline, end };

/// A part of the frame, and the place after it.
struct page_piece {
    std::string_view text;
    page_place place;
};

[[nodiscard]] std::span<const page_piece> page_frame();

/// Returns the version of Coroscope.
[[nodiscard]] std::string_view page_version();

}  // namespace coroscope::analysis::inline pages
