// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the numbers in a trace exactly: the text is converted to an integer without a double.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coroscope::analysis::inline text {

/// Decimal microseconds ("1700000000000000.001", "-3", "1.5e3") as nanoseconds, rounded half away
/// from zero if there are more than three decimals. Returns false if the text is no decimal number
/// or the nanoseconds are beyond int64.
[[nodiscard]] bool read_nanoseconds(std::string_view microseconds, std::int64_t& into);

/// Corrects `end`, the sum of two times by read_nanoseconds(), to their exact sum, rounded once.
/// Returns false if that is beyond int64.
[[nodiscard]] bool add_finer(std::string_view start, std::string_view duration, std::int64_t& end);

/// Reads an integer; nullopt if the text is anything else.
template <class Integer>
[[nodiscard]] std::optional<Integer> integer(std::string_view text) {
    Integer value{};
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
    return value;
}

/// Reads an id: decimal, or hexadecimal after "0x".
[[nodiscard]] std::optional<std::uint64_t> id_number(std::string_view text);

}  // namespace coroscope::analysis::inline text
