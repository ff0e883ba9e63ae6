// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the values of COROSCOPE_SAMPLE and COROSCOPE_BUDGET, independent of the locale. The
// recorder uses it at the start of the program, and `coroscope run` to refuse a wrong value before
// that.

#include <cstdint>

namespace coroscope::trace {

/// Reads digits into `number`, at most 9, and returns the place behind them.
constexpr const char* read_digits(const char* text, std::uint32_t& number,
                                  std::uint32_t& digits) noexcept {
    constexpr std::uint32_t most = 9;
    for (number = digits = 0; *text >= '0' && *text <= '9' && digits < most; ++text, ++digits)
        number = number * 10 + static_cast<std::uint32_t>(*text - '0');
    return text;
}

/// Returns the number of requests of which one is recorded in full; 0 if the text is not a number
/// from 1 to 65536.
constexpr std::uint32_t interval_from(const char* text) noexcept {
    constexpr std::uint32_t most = 65536;
    std::uint32_t number = 0;
    std::uint32_t digits = 0;
    const bool ends = *read_digits(text, number, digits) == '\0';
    return ends && digits != 0 && number <= most ? number : 0;
}

/// Reads "1%", "0.5%" or "0.5". Returns a negative number if the text is not a percentage from 0 to
/// 100.
constexpr double percent_from(const char* text) noexcept {
    std::uint32_t whole = 0;
    std::uint32_t part = 0;
    std::uint32_t digits = 0;
    std::uint32_t places = 0;
    text = read_digits(text, whole, digits);
    if (*text == '.') text = read_digits(text + 1, part, places);
    if (*text == '%') ++text;
    if (*text != '\0' || digits + places == 0) return -1;
    double fraction = part;
    for (; places != 0; --places) fraction /= 10;
    const double percent = whole + fraction;
    return percent <= 100 ? percent : -1;
}

}  // namespace coroscope::trace
