// SPDX-License-Identifier: Apache-2.0
#pragma once

// Columns of times. Many clocks advance by more than one tick at a time (processors that count at
// 2,600 MHz by 26). A difference of two times is then a number of steps, with a remainder of 0.

#include <cstddef>
#include <cstdint>
#include <span>

#include <coroscope/trace/format.hpp>

#include "pack_columns.hpp"
#include "pack_records.hpp"

namespace coroscope::trace {

/// Longer steps are not searched for.
inline constexpr std::uint64_t longest_clock_step = 256;

/// The kind of a column's numbers.
enum class time_form {
    differences,  ///< folded, of either sign
    durations,
};

/// Returns whether the word at this position of a record (as in prediction::of()) is a time.
constexpr bool is_time(record_kind kind, std::size_t position) noexcept {
    return position == 0 || (kind == record_kind::long_scope && position == first_words);
}

/// Returns the longest step of which nearly all these differences are multiples; 1 if there is
/// none.
[[nodiscard]] std::uint64_t clock_step(std::span<const std::uint64_t> folded_differences);

/// Appends a column of steps and a column of remainders; if the step is 1 or 0, only the numbers.
void write_times(column_writer& to, const column& values, time_form form, std::uint64_t step);

/// Reads exactly `count` numbers that write_times() wrote. Returns false if the block has other
/// contents.
[[nodiscard]] bool read_times(column_reader& from, column& to, std::size_t count, time_form form,
                              std::uint64_t step);

}  // namespace coroscope::trace
