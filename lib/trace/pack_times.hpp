// SPDX-License-Identifier: Apache-2.0
#pragma once

// Columns of times. Many clocks advance by more than one tick at a time (processors that count at 2,600 MHz by 26): a
// difference of two times is then a number of steps, and what is left over is 0.

#include <cstddef>
#include <cstdint>
#include <span>

#include <coroscope/trace/format.hpp>

#include "pack_columns.hpp"
#include "pack_records.hpp"

namespace coroscope::trace {

/// Longer steps are not looked for.
inline constexpr std::uint64_t longest_clock_step = 256;

/// What a column's numbers are.
enum class time_form {
    differences,  ///< folded, of either sign
    durations,
};

/// Is what stands at this position of such a record (as prediction::of() counts) a time?
constexpr bool is_time(record_kind kind, std::size_t position) noexcept {
    return position == 0 || (kind == record_kind::long_scope && position == first_words);
}

/// The longest step of which nearly all these differences are multiples; 1 where there is none.
[[nodiscard]] std::uint64_t clock_step(std::span<const std::uint64_t> folded_differences);

/// Appends a column of steps and one of what is left over; where the step is 1 or 0, just the numbers.
void write_times(column_writer& to, const column& values, time_form form, std::uint64_t step);

/// Exactly `count` numbers that write_times() wrote; false where the block holds something else.
[[nodiscard]] bool read_times(column_reader& from, column& to, std::size_t count, time_form form,
                              std::uint64_t step);

}  // namespace coroscope::trace
