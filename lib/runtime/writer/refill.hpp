// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes room at a thread's cursor. A record takes this path if the chunk is full or the gate has
// changed.

#include <cstddef>

#include "registry.hpp"

namespace coroscope::runtime::inline writer {

/// Makes room for 64 bytes at the thread's cursor and returns the cursor. If there is no room,
/// counts `records` as lost and returns null. Binds the thread to its session if necessary, hands
/// over the full chunk and takes another one.
char* refill(thread_state& thread, unsigned records) noexcept;

/// The largest number of bytes that may be written at a cursor below the limit.
inline constexpr std::size_t guaranteed_bytes = 64;
/// Distance of the limit from a chunk's end, in bytes: room for two records. A record that read the
/// limit of another chunk, before a signal handler changed chunks, may begin at the end of the
/// handler's last record.
inline constexpr std::size_t limit_distance = 2 * guaranteed_bytes - trace::record_unit_bytes;

/// Makes room for `bytes` (more than guaranteed_bytes, less than a chunk).
char* refill_bytes(thread_state& thread, std::size_t bytes) noexcept;

/// Returns whether the thread has left the function at stack address `under_way` without ending it,
/// because a signal handler jumped away (siglongjmp). `here` is the caller's stack address. Returns
/// false if that is unknown.
bool was_left(const thread_record& record, const void* under_way, const void* here) noexcept;

/// Counts `records` of the calling thread as lost for want of memory. Does nothing if no session
/// records here, or if the thread is not recorded for another reason (registry.hpp).
void count_unregistered(unsigned records) noexcept;

}  // namespace coroscope::runtime::inline writer
