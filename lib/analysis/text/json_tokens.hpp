// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tokens of JSON as texts.

#include <cstddef>
#include <string>
#include <string_view>

namespace coroscope::analysis::inline text {

[[nodiscard]] inline bool is_blank(char byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/// Returns the position of the first byte from `at` on that is not a blank.
[[nodiscard]] inline std::size_t behind_blanks(std::string_view text, std::size_t at) {
    while (at < text.size() && is_blank(text[at])) ++at;
    return at;
}

/// Removes blanks on both sides.
[[nodiscard]] inline std::string_view trimmed(std::string_view token) {
    while (!token.empty() && is_blank(token.back())) token.remove_suffix(1);
    while (!token.empty() && is_blank(token.front())) token.remove_prefix(1);
    return token;
}

[[nodiscard]] inline bool is_string(std::string_view token) {
    return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

/// Returns the text between the quotes of a string token, or any other token unchanged.
[[nodiscard]] inline std::string_view unquoted(std::string_view token) {
    return is_string(token) ? token.substr(1, token.size() - 2) : token;
}

/// Returns the inside of a string with its escapes resolved. Half a surrogate pair and an invalid
/// escape become U+FFFD.
[[nodiscard]] std::string unescaped(std::string_view inside);

/// Returns whether there is an invalid escape. A backslash at the text's end counts as cut, not as
/// invalid.
[[nodiscard]] bool has_unknown_escape(std::string_view text);

/// Returns a value on one line, with one blank after each comma and colon, as Python and Kineto
/// write it. The value must be well-formed.
[[nodiscard]] std::string one_line(std::string_view value);

}  // namespace coroscope::analysis::inline text
