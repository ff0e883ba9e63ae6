// SPDX-License-Identifier: Apache-2.0
#pragma once

// A session that never ends begins a new file when the current one is large
// (profile_options::rotate_bytes), and keeps the newest files.
//
// Each file is a session of the table, with a generation of its own, so a task that is older than
// its file is recorded as a task that is older than its session. A thread of ours,
// "coroscope-file", makes the next session live, gives it all threads, and takes the chunks of the
// one before away from them. A thread that records meanwhile does so into the one or the other. The
// ended session's file is closed half a second later: a thread that was taken off its processor
// while it wrote a record has written it by then (docs/decisions/0055-several-files.md).

#include <cstdint>

#include "session_start.hpp"

namespace coroscope::runtime::inline sessions {

/// Makes the session's first file and starts the thread. Returns the reason of a failure; `slot` is
/// then null. `plan.path` names the series (store/trace_series.hpp). The caller must hold
/// sessions_mutex().
start_result begin_rotation(const session_plan& plan, session*& slot) noexcept;

/// Ends the thread if the session of that handle rotates. The caller must not hold
/// sessions_mutex().
void end_rotation(std::uint32_t handle) noexcept;

/// Closes the earlier files of that session that are still open, and returns the records that were
/// lost in them and are not counted yet. The caller must hold sessions_mutex(), after
/// end_rotation().
std::uint64_t close_earlier_files(std::uint32_t handle) noexcept;

}  // namespace coroscope::runtime::inline sessions
