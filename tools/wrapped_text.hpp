// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides long lines of text between words.

#include <cstddef>
#include <string>
#include <string_view>

namespace coroscope::tools {

/// The least number of characters in a line to which the views are fitted.
inline constexpr std::size_t least_width = 80;

/// Returns the text with each line that is longer than `width` characters divided at spaces. The
/// further lines are indented by two spaces more than the first. A word that is longer is not
/// divided. `text` must be well-formed UTF-8; `width` must be at least least_width.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width);

}  // namespace coroscope::tools
