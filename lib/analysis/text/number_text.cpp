// SPDX-License-Identifier: Apache-2.0
#include "number_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace coroscope::analysis::inline text {
namespace {

constexpr std::size_t decimals_of_a_nanosecond = 3;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Returns the whole part of digits × 10^exponent, or nullopt if it exceeds int64.
std::optional<std::int64_t> whole_part(std::string_view digits, std::int64_t exponent) {
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
    return value;
}

/// Returns the digits of a number after the decimal point, without zeros at the end.
std::string fraction_of(std::string_view digits, std::int64_t exponent) {
    constexpr std::int64_t most_zeros = 1000;  // a smaller number counts as 0
    const std::int64_t point = static_cast<std::int64_t>(digits.size()) + exponent;
    if (exponent >= 0 || point < -most_zeros) return {};
    std::string fraction(static_cast<std::size_t>(std::max<std::int64_t>(0, -point)), '0');
    fraction += digits.substr(static_cast<std::size_t>(std::max<std::int64_t>(0, point)));
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return fraction;
}

struct split {
    std::string digits;         // integer part and fraction
    std::int64_t fraction = 0;  // number of digits after the point
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

/// A number of nanoseconds as its floor and the decimals of the rest. The rest is never negative,
/// so that numbers of either sign are added in the same way.
struct exact_time {
    std::int64_t floor = 0;
    std::string decimals;
};

/// Returns -(whole + fraction).
exact_time negated(std::int64_t whole, std::string fraction) {
    if (fraction.empty()) return {-whole, {}};
    for (char& digit : fraction) digit = static_cast<char>('0' + '9' - digit);
    ++fraction.back();  // it is not 9, because a fraction does not end in 0
    return {-whole - 1, std::move(fraction)};
}

std::optional<exact_time> exact(std::string_view microseconds) {
    const bool negative = microseconds.starts_with('-');
    const auto parts = split_number(microseconds.substr(negative ? 1 : 0));
    if (!parts) return std::nullopt;
    const std::int64_t exponent =
        parts->exponent - parts->fraction + static_cast<std::int64_t>(decimals_of_a_nanosecond);
    const auto whole = whole_part(parts->digits, exponent);
    if (!whole) return std::nullopt;
    std::string fraction = fraction_of(parts->digits, exponent);
    if (negative) return negated(*whole, std::move(fraction));
    return exact_time{*whole, std::move(fraction)};
}

std::optional<exact_time> sum(exact_time left, exact_time right) {
    const std::size_t size = std::max(left.decimals.size(), right.decimals.size());
    left.decimals.resize(size, '0');
    right.decimals.resize(size, '0');
    int carry = 0;
    for (std::size_t at = size; at-- > 0;) {
        const int digit = left.decimals[at] - '0' + right.decimals[at] - '0' + carry;
        carry = digit > 9 ? 1 : 0;
        left.decimals[at] = static_cast<char>('0' + digit % 10);
    }
    if (__builtin_add_overflow(left.floor, right.floor, &left.floor) ||
        __builtin_add_overflow(left.floor, carry, &left.floor))
        return std::nullopt;
    left.decimals.erase(left.decimals.find_last_not_of('0') + 1);
    return left;
}

/// Rounds half away from zero.
std::optional<std::int64_t> rounded(const exact_time& time) {
    std::int64_t value = time.floor;
    const bool up = time.floor < 0 ? time.decimals > "5" : time.decimals >= "5";
    if (up && __builtin_add_overflow(value, 1, &value)) return std::nullopt;
    return value;
}

/// Returns whether a number may have a fraction of a nanosecond.
bool is_finer(std::string_view microseconds) {
    const std::size_t size = microseconds.size();
    const std::size_t decimals = decimals_of_a_nanosecond;
    if (size > decimals && microseconds[size - decimals - 1] == '.') return false;
    const std::size_t mark = microseconds.find_first_of(".eE");
    return mark != std::string_view::npos &&
           (microseconds[mark] != '.' || size - mark - 1 > decimals ||
            microseconds.find_first_of("eE", mark) != std::string_view::npos);
}

/// Returns whether all eight bytes are digits. eight_digits() returns the number that they spell.
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

/// Reads the common spelling, which cannot overflow: up to 15 digits, and up to three after a
/// point.
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
    const auto time = exact(microseconds);
    const auto value = time ? rounded(*time) : std::nullopt;
    if (value) into = *value;
    return value.has_value();
}

bool add_finer(std::string_view start, std::string_view duration, std::int64_t& end) {
    if (!is_finer(start) && !is_finer(duration)) return true;
    auto from = exact(start);
    auto length = exact(duration);
    const auto time = from && length ? sum(std::move(*from), std::move(*length)) : std::nullopt;
    const auto value = time ? rounded(*time) : std::nullopt;
    if (value) end = *value;
    return value.has_value();
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

}  // namespace coroscope::analysis::inline text
