// SPDX-License-Identifier: Apache-2.0
#pragma once

// Characters without a shape of their own: format characters, such as U+202E, which reverses the
// text after it, and separators of lines and paragraphs. In a name they change what people see.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace coroscope::analysis::inline text {

struct point_range {
    std::uint32_t first;
    std::uint32_t last;
};

// Unicode's general categories Cf, Zl and Zp, in order.
inline constexpr point_range format_ranges[] = {
    {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},
    {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},
    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE007F},
};

/// Returns the number of a character. `sequence` must be one well-formed sequence of UTF-8.
[[nodiscard]] inline std::uint32_t code_point(std::string_view sequence) noexcept {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(sequence[at]); };
    if (sequence.size() <= 1) return sequence.empty() ? 0U : byte(0);
    std::uint32_t point = byte(0) & (0xFFU >> (sequence.size() + 1));
    for (std::size_t at = 1; at < sequence.size(); ++at) point = (point << 6U) | (byte(at) & 0x3FU);
    return point;
}

/// Returns whether the sequence is such a character.
[[nodiscard]] inline bool is_format(std::string_view sequence) noexcept {
    if (sequence.size() <= 1) return false;
    const std::uint32_t point = code_point(sequence);
    const auto* const range = std::ranges::find_if(
        format_ranges, [&](const point_range& each) { return point <= each.last; });
    return range != std::end(format_ranges) && point >= range->first;
}

}  // namespace coroscope::analysis::inline text
