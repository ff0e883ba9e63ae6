// SPDX-License-Identifier: Apache-2.0
#include "number_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

namespace coroscope::analysis::reading {
namespace {

constexpr std::size_t decimals_of_a_nanosecond = 3;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// digits × 10^(exponent), rounded half up to a whole number; nullopt beyond int64.
std::optional<std::int64_t> scaled(std::string_view digits, std::int64_t exponent) {
    const auto size = static_cast<std::int64_t>(digits.size());
    const std::int64_t whole = std::max<std::int64_t>(0, size + exponent);
    std::int64_t value = 0;
    for (std::int64_t at = 0; at < whole; ++at) {
        const int digit = at < size ? digits[static_cast<std::size_t>(at)] - '0' : 0;
        if (value == 0 && digit == 0 && at >= size) return 0;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return std::nullopt;
    }
    const bool up =
        size + exponent >= 0 && whole < size && digits[static_cast<std::size_t>(whole)] >= '5';
    if (up && __builtin_add_overflow(value, 1, &value)) return std::nullopt;
    return value;
}

struct split {
    std::string digits;         // integer part and fraction
    std::int64_t fraction = 0;  // how many of them are behind the point
    std::int64_t exponent = 0;
};

std::optional<split> split_number(std::string_view text) {
    split parts;
    std::size_t at = 0;
    const auto take_digits = [&] {
        const std::size_t begin = at;
        while (at < text.size() && is_digit(text[at])) parts.digits += text[at++];
        return at - begin;
    };
    if (take_digits() == 0) return std::nullopt;
    if (at < text.size() && text[at] == '.') {
        ++at;
        parts.fraction = static_cast<std::int64_t>(take_digits());
        if (parts.fraction == 0) return std::nullopt;
    }
    if (at == text.size()) return parts;
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    std::string_view exponent = text.substr(at + 1);
    if (!exponent.empty() && exponent[0] == '+') exponent.remove_prefix(1);
    const auto value = integer<std::int32_t>(exponent);
    if (!value) return std::nullopt;
    parts.exponent = *value;
    return parts;
}

std::optional<std::int64_t> any_number(std::string_view text) {
    const auto parts = split_number(text);
    if (!parts) return std::nullopt;
    return scaled(parts->digits, parts->exponent - parts->fraction +
                                     static_cast<std::int64_t>(decimals_of_a_nanosecond));
}

/// Whether eight bytes are digits, and the number that they spell, all at once.
bool all_digits(std::uint64_t bytes) {
    return (bytes & 0xf0f0'f0f0'f0f0'f0f0U) == 0x3030'3030'3030'3030U &&
           ((bytes + 0x0606'0606'0606'0606U) & 0xf0f0'f0f0'f0f0'f0f0U) == 0x3030'3030'3030'3030U;
}
std::uint32_t eight_digits(std::uint64_t bytes) {
    // Neighbours are joined: digits to pairs, pairs to fours, fours to eight.
    bytes = (bytes & 0x0f0f'0f0f'0f0f'0f0fU) * (1 + (10U << 8)) >> 8;
    bytes = (bytes & 0x00ff'00ff'00ff'00ffU) * (1 + (100U << 16)) >> 16;
    return static_cast<std::uint32_t>((bytes & 0x0000'ffff'0000'ffffU) * (1 + (10'000ULL << 32)) >>
                                      32);
}

/// The common spelling, which cannot overflow: up to 15 digits, and up to three behind a point.
bool read_common(std::string_view text, std::int64_t& into) {
    constexpr std::size_t safe_digits = 15;
    static_assert(std::endian::native == std::endian::little);
    std::int64_t value = 0;
    std::size_t at = 0;
    std::uint64_t bytes = 0;
    if (text.size() > sizeof(bytes)) {
        std::memcpy(&bytes, text.data(), sizeof(bytes));
        if (all_digits(bytes)) {
            value = eight_digits(bytes);
            at = sizeof(bytes);
        }
    }
    const std::size_t most = std::min(text.size(), safe_digits + 1);
    while (at < most && is_digit(text[at])) value = value * 10 + (text[at++] - '0');
    if (at == 0 || at > safe_digits) return false;
    constexpr std::array<std::int64_t, decimals_of_a_nanosecond + 1> unit = {1000, 100, 10, 1};
    std::size_t decimals = 0;
    if (at < text.size()) {
        if (text[at++] != '.') return false;
        decimals = text.size() - at;
        if (decimals == 0 || decimals > decimals_of_a_nanosecond) return false;
        for (; at < text.size(); ++at) {
            if (!is_digit(text[at])) return false;
            value = value * 10 + (text[at] - '0');
        }
    }
    into = value * unit[decimals];
    return true;
}

}  // namespace

bool read_nanoseconds(std::string_view microseconds, std::int64_t& into) {
    if (read_common(microseconds, into)) return true;
    const bool negative = !microseconds.empty() && microseconds[0] == '-';
    const auto value = any_number(microseconds.substr(negative ? 1 : 0));
    if (!value) return false;
    into = negative ? -*value : *value;
    return true;
}

std::optional<std::uint64_t> id_number(std::string_view text) {
    if (!text.starts_with("0x") && !text.starts_with("0X")) return integer<std::uint64_t>(text);
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    constexpr int hexadecimal = 16;
    const auto [stop, error] = std::from_chars(text.data() + 2, end, value, hexadecimal);
    if (error != std::errc() || stop != end || text.size() == 2) return std::nullopt;
    return value;
}

}  // namespace coroscope::analysis::reading
