// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stores of ended sessions. A thread may still hold such a store's chunk, so its address space
// stays until no thread does.
//
// Threads: the caller must hold sessions_mutex().

namespace coroscope::runtime::inline sessions {

/// Releases the slots of ended sessions whose stores are closed and not in use.
void give_up_slots() noexcept;

/// Unmaps the stores of released slots that no thread holds.
void reap_retired() noexcept;

}  // namespace coroscope::runtime::inline sessions
