// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads' gates: opening them for sessions, closing them, and the bits of other features.
//
// Threads: any.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>

#include "session_table.hpp"

namespace coroscope::runtime::inline writer {

/// gate_slow_clock if the counter is no clock, else 0.
std::int32_t clock_gate() noexcept;

/// Returns the bits that a session needs besides gate_local or gate_global.
std::int32_t session_gate(const session& recording) noexcept;

/// Sets and clears bits of a thread's gate. May be called by any thread. Closes a gate that has no
/// session left.
void change_gate(thread_state& thread, std::int32_t set, std::int32_t clear) noexcept;

/// Returns the initial bits of a thread's gate, which do not depend on sessions: gate_live,
/// gate_observed.
std::int32_t standing_gate() noexcept;

/// Sets and clears bits of standing_gate(). Does not change the gates of registered threads. The
/// caller must hold registry_mutex().
void change_standing_gate(std::int32_t set, std::int32_t clear) noexcept;

/// Sets and clears bits of the gates of all registered threads. The caller must hold
/// registry_mutex().
void change_all_gates(std::int32_t set, std::int32_t clear) noexcept;

/// Opens the gates for a session that begins to collect, or collects again. The change reaches all
/// threads at once.
void open_gates(const session& recording, bool all_threads) noexcept;

/// Takes the chunks of a session that ends away from all threads, so that their next records take
/// the slow path.
void cut_off(std::uint32_t generation) noexcept;

/// Lets the next record of each thread take the slow path. No session ends.
void take_limits() noexcept;

}  // namespace coroscope::runtime::inline writer
