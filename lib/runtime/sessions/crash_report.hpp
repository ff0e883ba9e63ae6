// SPDX-License-Identifier: Apache-2.0
#pragma once

// The report of a fatal signal, if a session asks for it (profile_options::crash_report): the async
// stack of the signal's thread, on a descriptor and in the headers of such sessions' traces.
//
//   signal ──► one report ──► restores the previous action ──► sends the signal again
//
// The process therefore ends as it would without us, in its own handler or by the default, with the
// same signal, code and registers. A SIGBUS is not fatal if the trace file was cut: the handler
// replaces the file's mapping, and the thread goes on.
//
// Threads: the caller of watch_file(), watch_crashes() and unwatch() must hold sessions_mutex().
// Nothing in a handler allocates, locks or waits without a limit.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "../store/watched_file.hpp"

namespace coroscope::runtime::inline sessions {

/// Installs the SIGBUS handler. Must be called before the session in that slot of the table makes
/// its file. The session's store must enter its mappings in the result. If the file is cut and a
/// thread touches a lost page of a mapping, the handler replaces the mapping by empty memory and
/// sets `replaced`. From then on the session's records do not reach its file.
watched_file& watch_file(std::size_t slot) noexcept;

/// Reports crashes in the header of that session's trace, too. The first such session installs the
/// handlers of all fatal signals; reports go to the newest session's descriptor.
void watch_crashes(std::size_t slot, trace::file_header& header, int descriptor) noexcept;

/// Ends the session's watch_file() and watch_crashes(), if they were called. The last session that
/// needs a handler restores the previous action, unless another handler was installed over ours. If
/// the file was cut, the caller must keep the SIGBUS handler: a thread that touched a lost page may
/// get its signal later, as it was preempted before.
void unwatch(std::size_t slot, bool keep_handler = false) noexcept;

}  // namespace coroscope::runtime::inline sessions
