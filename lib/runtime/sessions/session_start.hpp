// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a session's start.
//
// Threads: the caller must hold sessions_mutex().

#include <cstddef>

#include <coroscope/profile.hpp>

#include "../base/container_memory.hpp"
#include "../writer/session_table.hpp"
#include "session_identity.hpp"
#include "start_stop_results.hpp"

namespace coroscope::runtime::inline sessions {

struct session_plan {
    const profile_options& options;
    const trace_name& name;
    const char* path;  ///< of the file; null: in memory
    trace_limit limit;
    void (*when_large)() noexcept = nullptr;  ///< see store_settings
};

/// Returns the position of a session in the table.
inline std::size_t number_of(const session& slot) noexcept {
    return static_cast<std::size_t>(&slot - session_table());
}

/// Opens a store for the session and makes the session live in a slot of the table. No context
/// belongs to it yet. Returns the reason of a failure; `slot` is then null.
start_result make_live(const session_plan& plan, session*& slot) noexcept;

/// Makes a live session that of all threads, in place of the one before.
void take_all_threads(session& slot) noexcept;

/// Begins the services that a session of these options has besides scopes and tasks: reports of
/// crashes, states of threads, devices. Returns an error or a warning, empty on success.
const char* begin_services(session& slot, const profile_options& options) noexcept;

}  // namespace coroscope::runtime::inline sessions
