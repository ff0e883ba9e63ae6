// SPDX-License-Identifier: Apache-2.0
#include "number_text.hpp"

#include <algorithm>
#include <array>
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

/// The common spelling, which cannot overflow: up to 15 digits, and up to three behind a point.
std::optional<std::int64_t> common_number(std::string_view text) {
    constexpr std::size_t safe_digits = 15;
    std::int64_t value = 0;
    std::size_t at = 0;
    const std::size_t most = std::min(text.size(), safe_digits + 1);
    while (at < most && is_digit(text[at])) value = value * 10 + (text[at++] - '0');
    if (at == 0 || at > safe_digits) return std::nullopt;
    std::size_t decimals = 0;
    if (at < text.size()) {
        if (text[at++] != '.') return std::nullopt;
        decimals = text.size() - at;
        if (decimals == 0 || decimals > decimals_of_a_nanosecond) return std::nullopt;
        for (; at < text.size(); ++at) {
            if (!is_digit(text[at])) return std::nullopt;
            value = value * 10 + (text[at] - '0');
        }
    }
    constexpr std::array<std::int64_t, decimals_of_a_nanosecond + 1> unit = {1000, 100, 10, 1};
    return value * unit[decimals];
}

}  // namespace

std::optional<std::int64_t> nanoseconds(std::string_view microseconds) {
    const bool negative = !microseconds.empty() && microseconds[0] == '-';
    const std::string_view text = microseconds.substr(negative ? 1 : 0);
    std::optional<std::int64_t> value = common_number(text);
    if (!value) value = any_number(text);
    if (value && negative) value = -*value;
    return value;
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
