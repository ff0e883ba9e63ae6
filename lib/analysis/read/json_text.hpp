// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tokens of JSON as texts.

#include <cstddef>
#include <string>
#include <string_view>

namespace coroscope::analysis::reading {

[[nodiscard]] inline bool is_blank(char byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/// Where the first byte from `at` on is that is no blank.
[[nodiscard]] inline std::size_t behind_blanks(std::string_view text, std::size_t at) {
    while (at < text.size() && is_blank(text[at])) ++at;
    return at;
}

/// Without blanks around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view token) {
    while (!token.empty() && is_blank(token.back())) token.remove_suffix(1);
    while (!token.empty() && is_blank(token.front())) token.remove_prefix(1);
    return token;
}

[[nodiscard]] inline bool is_string(std::string_view token) {
    return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

/// What stands between the quotes of a string token; another token is itself.
[[nodiscard]] inline std::string_view unquoted(std::string_view token) {
    return is_string(token) ? token.substr(1, token.size() - 2) : token;
}

/// The inside of a string with its escapes resolved. Half a surrogate pair becomes U+FFFD, and so does
/// what is no escape.
[[nodiscard]] std::string unescaped(std::string_view inside);

/// Does a backslash stand before what JSON does not escape? One that ends the text is as good as cut.
[[nodiscard]] bool has_unknown_escape(std::string_view text);

/// A value on one line, with one blank behind each comma and colon, as Python and Kineto write it. The
/// value is well-formed.
[[nodiscard]] std::string one_line(std::string_view value);

}  // namespace coroscope::analysis::reading
