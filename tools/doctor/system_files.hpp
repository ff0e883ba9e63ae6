// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the small text files of /proc and /sys below a root, which a test plants.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coroscope::tools {

/// Returns at most `most` bytes of a file; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path,
                                                   std::size_t most = std::size_t{1} << 16);

/// Returns the number at the beginning of a file.
[[nodiscard]] std::optional<std::int64_t> read_number(const std::string& path);

/// Returns the rest of the line that begins with `name` and a colon, without the blanks around it.
[[nodiscard]] std::optional<std::string_view> value_of(std::string_view text,
                                                       std::string_view name);

/// Returns whether this is one of the words of the text.
[[nodiscard]] bool has_word(std::string_view text, std::string_view word);

/// The text without the blanks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace coroscope::tools
