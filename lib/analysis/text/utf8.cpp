// SPDX-License-Identifier: Apache-2.0
#include "utf8.hpp"

#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "format_characters.hpp"

namespace coroscope::analysis::inline text {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool is_continuation(unsigned char byte) noexcept { return (byte & 0xC0U) == 0x80U; }

/// The bounds of the second byte exclude overlong forms, surrogates and characters above U+10FFFF.
bool second_byte_fits(unsigned char first, unsigned char second) noexcept {
    switch (first) {
        case 0xE0: return second >= 0xA0;
        case 0xED: return second < 0xA0;
        case 0xF0: return second >= 0x90;
        case 0xF4: return second < 0x90;
        default: return true;
    }
}

std::size_t announced_length(unsigned char first) noexcept {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    if (first >= 0xF0 && first <= 0xF4) return 4;
    return 0;
}

void append_visible_format(std::string& out, std::string_view sequence) {
    const std::uint32_t point = code_point(sequence);
    if (point > 0xFFFF)
        fmt::format_to(std::back_inserter(out), "\\U{:08x}", point);
    else
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", point);
}

void append_visible_control(std::string& out, std::string_view sequence) {
    switch (sequence.front()) {
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte_at(sequence, sequence.size() - 1));
}

void append_json_character(std::string& out, std::string_view sequence) {
    const char first = sequence.front();
    switch (first) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    if (is_control(sequence)) {
        // the last byte is the code point, also in C1's two bytes
        fmt::format_to(std::back_inserter(out), "\\u{:04x}",
                       byte_at(sequence, sequence.size() - 1));
    } else {
        out += sequence;
    }
}

/// Calls `visit` with each character in turn.
template <class Visitor>
void each_character(std::string_view text, Visitor visit) {
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        visit(length == 0 ? replacement_character : text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

}  // namespace

bool is_control(std::string_view sequence) noexcept {
    const unsigned char first = byte_at(sequence, 0);
    if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
    return sequence.size() == 2 && first == 0xC2 && byte_at(sequence, 1) < 0xA0;
}

std::size_t utf8_sequence(std::string_view text) noexcept {
    const unsigned char first = byte_at(text, 0);
    const std::size_t length = text.empty() ? 0 : announced_length(first);
    if (length <= 1) return length;
    if (!is_continuation(byte_at(text, 1)) || !second_byte_fits(first, byte_at(text, 1))) return 0;
    for (std::size_t at = 2; at < length; ++at) {
        if (!is_continuation(byte_at(text, at))) return 0;
    }
    return length;
}

std::size_t count_characters(std::string_view text) noexcept {
    std::size_t count = 0;
    for (const char each : text) count += is_continuation(static_cast<unsigned char>(each)) ? 0 : 1;
    return count;
}

std::string_view first_characters(std::string_view text, std::size_t count) noexcept {
    std::size_t at = 0;
    while (at < text.size() && (count > 0 || is_continuation(byte_at(text, at)))) {
        if (!is_continuation(byte_at(text, at))) --count;
        ++at;
    }
    return text.substr(0, at);
}

std::string_view last_characters(std::string_view text, std::size_t count) noexcept {
    std::size_t at = text.size();
    while (at > 0 && count > 0) {
        --at;
        if (!is_continuation(byte_at(text, at))) --count;
    }
    return text.substr(at);
}

namespace {

std::string without_controls(std::string_view text, bool keep_line_feeds) {
    std::string out;
    out.reserve(text.size());
    each_character(text, [&](std::string_view character) {
        if (is_control(character) && !(keep_line_feeds && character == "\n")) {
            append_visible_control(out, character);
        } else if (is_format(character)) {
            append_visible_format(out, character);
        } else {
            out += character;
        }
    });
    return out;
}

}  // namespace

std::string printable(std::string_view text) { return without_controls(text, false); }

std::string printable_lines(std::string_view text) { return without_controls(text, true); }

std::string well_formed(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    each_character(text, [&out](std::string_view character) { out += character; });
    return out;
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    each_character(text,
                   [&out](std::string_view character) { append_json_character(out, character); });
    out += '"';
}

}  // namespace coroscope::analysis::inline text
