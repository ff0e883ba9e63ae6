// SPDX-License-Identifier: Apache-2.0
#include "json_tokens.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace coroscope::analysis::inline text {
namespace {

constexpr std::uint32_t replacement = 0xfffd;
constexpr std::size_t hexadecimal_digits = 4;

void append_utf8(std::string& out, std::uint32_t code) {
    const auto rest = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | (code >> 6));
        rest(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | (code >> 12));
        rest(6);
        rest(0);
    } else {
        out += static_cast<char>(0xf0 | (code >> 18));
        rest(12);
        rest(6);
        rest(0);
    }
}

/// Removes a "\u" escape from the beginning of `text` and returns its number; nullopt, and `text`
/// unchanged, if there is no valid one.
std::optional<std::uint32_t> take_code_unit(std::string_view& text) {
    if (!text.starts_with("\\u") || text.size() < 2 + hexadecimal_digits) return std::nullopt;
    std::uint32_t unit = 0;
    const char* const begin = text.data() + 2;
    const char* const end = begin + hexadecimal_digits;
    const auto [stop, error] = std::from_chars(begin, end, unit, 16);
    if (error != std::errc() || stop != end) return std::nullopt;
    text.remove_prefix(2 + hexadecimal_digits);
    return unit;
}

std::uint32_t take_code_point(std::string_view& text) {
    const auto first = take_code_unit(text);
    if (!first) {
        text.remove_prefix(std::min<std::size_t>(text.size(), 2));
        return replacement;
    }
    if (*first < 0xd800 || *first > 0xdfff) return *first;
    if (*first > 0xdbff) return replacement;
    std::string_view behind = text;
    const auto second = take_code_unit(behind);
    if (!second || *second < 0xdc00 || *second > 0xdfff) return replacement;
    text = behind;
    return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
}

/// Returns the character that a backslash and `letter` stand for; 0 if the escape does not exist.
char simple_escape(char letter) {
    switch (letter) {
        case '"':
        case '\\':
        case '/': return letter;
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return 0;
    }
}

bool is_hexadecimal(char digit) {
    return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') ||
           (digit >= 'A' && digit <= 'F');
}

/// Returns whether a backslash before `behind`, which must not be empty, begins a valid escape. A
/// "\u" escape that the end of the text cuts is valid.
bool is_escape(std::string_view behind) {
    if (simple_escape(behind[0]) != '\0') return true;
    const std::string_view digits = behind.substr(1, 4);
    return behind[0] == 'u' && std::all_of(digits.begin(), digits.end(), is_hexadecimal);
}

}  // namespace

bool has_unknown_escape(std::string_view text) {
    std::size_t at = text.find('\\');
    while (at != std::string_view::npos && at + 1 < text.size()) {
        if (!is_escape(text.substr(at + 1))) return true;
        at = text.find('\\', at + 2);
    }
    return false;
}

std::string unescaped(std::string_view inside) {
    std::string out;
    out.reserve(inside.size());
    while (!inside.empty()) {
        const std::size_t plain = std::min(inside.find('\\'), inside.size());
        out += inside.substr(0, plain);
        inside.remove_prefix(plain);
        if (inside.empty()) break;
        const char simple = inside.size() > 1 ? simple_escape(inside[1]) : '\0';
        if (simple == '\0') {
            append_utf8(out, take_code_point(inside));
            continue;
        }
        out += simple;
        inside.remove_prefix(2);
    }
    return out;
}

std::string one_line(std::string_view value) {
    std::string out;
    out.reserve(value.size());
    bool in_string = false;
    for (std::size_t at = 0; at < value.size(); ++at) {
        const char byte = value[at];
        if (in_string) {
            out += byte;
            if (byte == '\\' && at + 1 < value.size()) out += value[++at];
            in_string = byte != '"';
            continue;
        }
        if (static_cast<unsigned char>(byte) <= ' ') continue;
        out += byte;
        if (byte == ',' || byte == ':') out += ' ';
        in_string = byte == '"';
    }
    return out;
}

}  // namespace coroscope::analysis::inline text
