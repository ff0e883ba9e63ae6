// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a session's end.
//
// Threads: the caller must hold sessions_mutex().

#include <cstdint>

#include "../writer/session_table.hpp"
#include "start_stop_results.hpp"

namespace coroscope::runtime::inline sessions {

/// Ends recording into a session: no thread begins a record in it from here on. Records that are
/// being written still reach it, and its store stays open until close_session(). If it is the
/// session of all threads, there is none afterwards. stop_devices() must be called before.
void detach(session& slot) noexcept;

/// Seals the trace of a detached session.
stop_result close_session(session& slot) noexcept;

/// Returns the number of records that the session's threads lost so far. Overwritten records are
/// not included.
std::uint64_t dropped_records(const session& slot) noexcept;

/// Returns the meaning of the errno of a session's store.
const char* why_impaired(int error) noexcept;

}  // namespace coroscope::runtime::inline sessions
