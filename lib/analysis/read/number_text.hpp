// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers as a trace spells them, read exactly: no double is between the text and the integer.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coroscope::analysis::reading {

/// Decimal microseconds ("1700000000000000.001", "-3", "1.5e3") as nanoseconds, rounded half away from
/// zero where there are more than three decimals. False where the text is no decimal number or the
/// nanoseconds are beyond int64.
[[nodiscard]] bool read_nanoseconds(std::string_view microseconds, std::int64_t& into);

/// Makes `end`, the sum of two times that read_nanoseconds() gave, the time of their exact sum, rounded once. False
/// where that is beyond int64.
[[nodiscard]] bool add_finer(std::string_view start, std::string_view duration, std::int64_t& end);

/// A whole number; nullopt for everything else.
template <class Integer>
[[nodiscard]] std::optional<Integer> integer(std::string_view text) {
    Integer value{};
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
    return value;
}

/// An id: decimal, or hexadecimal after "0x".
[[nodiscard]] std::optional<std::uint64_t> id_number(std::string_view text);

}  // namespace coroscope::analysis::reading
