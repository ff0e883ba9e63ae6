// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting and stopping sessions. Thread-safe.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/profile.hpp>

#include "start_stop_results.hpp"

namespace coroscope::runtime::inline sessions {

/// The reason for which a second session, or a thread that wants to join one, is refused.
inline constexpr const char* already_enabled = "Profiler is already enabled on this thread.";

/// Sets the reason that replaces already_enabled while this session of all threads records: the
/// session that the environment started, whose trace the reason names. `message` must stay valid.
void explain_refusals(std::uint32_t generation, const char* message) noexcept;

/// Returns whether a session is enabled for this thread, even if its collection is switched off, or
/// an observer holds the session's slot.
bool is_enabled(const detail::thread_state& thread) noexcept;

/// Starts a session. The caller must install a session of this thread into the thread's context.
start_result start_session(const profile_options& options) noexcept;

/// Stops a session. Nothing is recorded into it any more, and its trace is sealed.
stop_result stop_session(std::uint32_t generation) noexcept;

/// Switches a live session's collection on or off. Does nothing if it is in that state already.
void toggle_collection(std::uint32_t generation, bool enabled) noexcept;

/// Returns the status of a running session.
session_status session_health(std::uint32_t generation) noexcept;

}  // namespace coroscope::runtime::inline sessions
