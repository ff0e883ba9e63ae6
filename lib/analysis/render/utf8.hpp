// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names come from traces, so from anybody: these make them safe to print. Bytes that are not
// well-formed UTF-8 become U+FFFD.

#include <cstddef>
#include <string>
#include <string_view>

namespace coroscope::analysis::render {

inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// Bytes of the well-formed UTF-8 sequence that `text` begins with; 0 where it begins with none.
[[nodiscard]] std::size_t utf8_sequence(std::string_view text) noexcept;

/// Characters (code points) of well-formed UTF-8.
[[nodiscard]] std::size_t count_characters(std::string_view text) noexcept;

/// The first `count` characters of well-formed UTF-8, or the last.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t count) noexcept;
[[nodiscard]] std::string_view last_characters(std::string_view text, std::size_t count) noexcept;

/// `text` on one line, without anything that a terminal would act on: control characters are
/// written as escapes.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` with every character that it has.
[[nodiscard]] std::string well_formed(std::string_view text);

/// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace coroscope::analysis::render
