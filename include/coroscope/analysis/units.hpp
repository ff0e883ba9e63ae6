// SPDX-License-Identifier: Apache-2.0
#pragma once

// Formats of figures in text: torch's forms of a time, a share and a size, and a shorter form for
// sentences.
//
// Thread-safety: pure functions, safe on any thread.

#include <cstdint>
#include <string>

#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The unit of printed times. `automatic` selects the largest unit in which the figure is at least
/// 1.
enum class time_unit : std::uint8_t { automatic, seconds, milliseconds, microseconds };

/// Three decimals and the unit without a space: "1.500ms". The unit of times below a microsecond,
/// or below zero, is "us".
[[nodiscard]] COROSCOPE_API std::string format_time(std::int64_t nanoseconds,
                                                    time_unit unit = time_unit::automatic);

/// Three significant digits and the unit without a space: "1.50ms", "123ns". 0 is "0". With
/// `automatic`, the unit of times below a microsecond is "ns".
[[nodiscard]] COROSCOPE_API std::string format_short_time(std::int64_t nanoseconds,
                                                          time_unit unit = time_unit::automatic);

/// Four significant digits: "0.1235", "12.5", "1234"; whole numbers in full.
[[nodiscard]] COROSCOPE_API std::string format_number(double number);

/// Returns part / whole as "12.34%"; "NaN" if `whole` is 0.
[[nodiscard]] COROSCOPE_API std::string format_percent(std::int64_t part, std::int64_t whole);

/// Returns "1.50 KB" in powers of 1024 up to GB, by magnitude; below 1024 "17 B".
[[nodiscard]] COROSCOPE_API std::string format_bytes(std::int64_t bytes);

/// One decimal and the unit after a space: "12.3 ms". `scale_ns` selects the unit, so that the
/// terms of a sum can have the unit of the sum.
[[nodiscard]] COROSCOPE_API std::string format_span(std::int64_t nanoseconds,
                                                    std::int64_t scale_ns);
[[nodiscard]] inline std::string format_span(std::int64_t nanoseconds) {
    return format_span(nanoseconds, nanoseconds);
}

}  // namespace coroscope::analysis
