// SPDX-License-Identifier: Apache-2.0
#pragma once

// Room at a thread's cursor: the way that a record takes when the chunk is full or the gate has changed.

#include <cstddef>

#include "registry.hpp"

namespace coroscope::runtime {

/// Makes room for 64 bytes at the thread's cursor and returns it, or counts `records` lost and
/// returns null. Hands the full chunk over and takes another; binds the thread to its session first
/// if need be.
char* refill(thread_state& thread, unsigned records) noexcept;

/// Largest number of bytes that may be written at a cursor below the limit.
inline constexpr std::size_t guaranteed_bytes = 64;
/// Of the limit from a chunk's end. Twice what may be written: a record that read the limit of another chunk before a
/// signal handler changed chunks may begin where the handler's last one ended.
inline constexpr std::size_t limit_distance = 2 * guaranteed_bytes - trace::record_unit_bytes;

/// Makes room for `bytes` (more than guaranteed_bytes, less than a chunk).
char* refill_bytes(thread_state& thread, std::size_t bytes) noexcept;

/// Counts `records` as lost that the calling thread would write, for which there is no memory. Nothing where nobody
/// records, or where it is not recorded for another reason (registry.hpp).
void count_unregistered(unsigned records) noexcept;

}  // namespace coroscope::runtime
