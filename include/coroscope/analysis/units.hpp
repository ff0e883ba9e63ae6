// SPDX-License-Identifier: Apache-2.0
#pragma once

// How figures are written in text: torch's forms of a time, a share and a size, and a shorter one
// for sentences. Pure functions; safe on any thread.

#include <cstdint>
#include <string>

#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The unit that times are printed in. `automatic` takes the largest in which the figure is not
/// below 1.
enum class time_unit : std::uint8_t { automatic, seconds, milliseconds, microseconds };

/// Three decimals and the unit without a space: "1.500ms". Below a microsecond (and below zero) it
/// is "us".
[[nodiscard]] COROSCOPE_API std::string format_time(std::int64_t nanoseconds,
                                                    time_unit unit = time_unit::automatic);

/// part / whole as "12.34%"; "NaN" where whole is 0.
[[nodiscard]] COROSCOPE_API std::string format_percent(std::int64_t part, std::int64_t whole);

/// "1.50 KB" in powers of 1024 up to GB, by magnitude; below 1024 "17 B".
[[nodiscard]] COROSCOPE_API std::string format_bytes(std::int64_t bytes);

/// One decimal and the unit after a space: "12.3 ms". `scale_ns` chooses the unit, so that the
/// terms of a sum can be written in the unit of the sum.
[[nodiscard]] COROSCOPE_API std::string format_span(std::int64_t nanoseconds,
                                                    std::int64_t scale_ns);
[[nodiscard]] inline std::string format_span(std::int64_t nanoseconds) {
    return format_span(nanoseconds, nanoseconds);
}

}  // namespace coroscope::analysis
