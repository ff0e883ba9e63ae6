// SPDX-License-Identifier: Apache-2.0
#pragma once

// The run-time labels of open ranges, beside a trace that overwrites its oldest records: the label
// is written at the range's start, and would be gone when a long range ends. The functions do
// nothing in other sessions.
//
// Lock-free, in a table of the process with label_slots slots. If the table is full, or a label is
// longer than kept_label_bytes, the trace has the label at the range's start only.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/range_start.hpp>

namespace coroscope::runtime::inline scopes {

inline constexpr std::size_t label_slots = 4096;
inline constexpr std::size_t kept_label_bytes = 240;

/// Keeps the label of a range that began, which has just been written.
void keep_label(const detail::range_start& range, const char* label, std::size_t size) noexcept;

/// Writes the label of a range again at the range's end, so that one chunk has both. `begun` is the
/// range's start.
void repeat_label(const detail::range_start& range, const detail::scope_start& begun) noexcept;

/// Prepares for a session that overwrites: makes the table if there is none, else releases the
/// labels of ranges whose session is over. If memory is short, no label is kept. One call at a
/// time.
void prepare_labels() noexcept;

}  // namespace coroscope::runtime::inline scopes
