// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting and stopping sessions. Thread-safe.

#include <cstdint>
#include <mutex>

#include <coroscope/profile.hpp>

namespace coroscope::runtime {

struct start_result {
    std::uint32_t generation = 0;  ///< 0: refused
    const char* message = "";
    int error_number = 0;
};

/// Why a second session is refused, or a thread that wants to join one.
inline constexpr const char* already_enabled = "Profiler is already enabled on this thread.";

/// Held while a session starts or stops. Taken before the locks of sites and registry.
std::mutex& sessions_mutex() noexcept;

/// Starts a session. One of this thread is not installed into the thread's context yet.
start_result start_session(const profile_options& options) noexcept;

struct stop_result {
    trace::buffer trace;             ///< of a session in memory
    int error_number = 0;            ///< ENOMEM: that could not be handed over, and is lost
    std::uint64_t lost_records = 0;  ///< as in session_status, to the very end
};

/// Ends it: nothing is recorded into it any more, its trace is sealed.
stop_result stop_session(std::uint32_t generation) noexcept;

/// Switches the collection of a live session; nothing where it is as it should be.
void toggle_collection(std::uint32_t generation, bool enabled) noexcept;

/// What a running session has to say.
session_status session_health(std::uint32_t generation) noexcept;

}  // namespace coroscope::runtime
