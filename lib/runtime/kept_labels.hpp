// SPDX-License-Identifier: Apache-2.0
#pragma once

// The run-time labels of open ranges, beside a trace that overwrites its oldest records: the label is written where its range
// begins, and would be gone when a long range ends. They do nothing in other sessions.
//
// Lock-free, in a table of the process that has room for label_slots; of a range beyond that, or of one whose label is
// longer than kept_label_bytes, the label stands only where the range began.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/range_start.hpp>

namespace coroscope::runtime {

inline constexpr std::size_t label_slots = 4096;
inline constexpr std::size_t kept_label_bytes = 240;

/// Keeps the label of a range that began, which has just been written.
void keep_label(const detail::range_start& range, const char* label, std::size_t size) noexcept;

/// The range, which began with that, ends: writes its label once more, so that it stands in one chunk with its end.
void repeat_label(const detail::range_start& range, const detail::scope_start& begun) noexcept;

/// Before a session that overwrites: makes the table, where there is none, or lets labels of ranges go whose session is
/// over. Without memory for it no label is kept. One call at a time.
void prepare_labels() noexcept;

}  // namespace coroscope::runtime
