// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread's counters in the trace of its session. They do nothing if the thread records into no
// session. May be called at any time.

namespace coroscope::runtime::inline writer {

/// Counts a text that was cut.
void count_truncated() noexcept;

/// Counts the attributes and sites for which their tables have no room.
void count_attribute_without_room() noexcept;
void count_place_without_room() noexcept;

}  // namespace coroscope::runtime::inline writer
