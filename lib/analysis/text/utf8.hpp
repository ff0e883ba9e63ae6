// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes texts of a trace safe to print. A trace may come from an untrusted source. Bytes that are
// not well-formed UTF-8 become U+FFFD.

#include <cstddef>
#include <string>
#include <string_view>

namespace coroscope::analysis::inline text {

inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// Returns the size in bytes of the UTF-8 sequence at the beginning of `text`; 0 if it is
/// ill-formed or `text` is empty.
[[nodiscard]] std::size_t utf8_sequence(std::string_view text) noexcept;

/// Returns whether the sequence is C0, DEL or C1 (two bytes in UTF-8, 0xC2 first). A terminal may
/// take these for commands.
[[nodiscard]] bool is_control(std::string_view sequence) noexcept;

/// Returns the number of characters (code points). `text` must be well-formed UTF-8.
[[nodiscard]] std::size_t count_characters(std::string_view text) noexcept;

/// Returns the first, or last, `count` characters. `text` must be well-formed UTF-8.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t count) noexcept;
[[nodiscard]] std::string_view last_characters(std::string_view text, std::size_t count) noexcept;

/// Returns `text` on one line, with control characters as escapes, so that a terminal does not act
/// on them.
[[nodiscard]] std::string printable(std::string_view text);

/// The same, but keeps line feeds, so the result may have several lines.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// Returns `text` as well-formed UTF-8. Keeps control characters.
[[nodiscard]] std::string well_formed(std::string_view text);

/// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace coroscope::analysis::inline text
