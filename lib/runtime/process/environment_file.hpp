// SPDX-License-Identifier: Apache-2.0
#pragma once

// The trace file of a process that records because of its environment. The process for which
// COROSCOPE_TRACE was set writes FILE. Every process that it forks or starts writes a file of its
// own, FILE.PID, and no process replaces another's:
//
//   COROSCOPE_TRACE_OWNER   the id of the process that has FILE; set by `coroscope run`, else by
//                           the first process itself
//   FILE.PID.2, …           if FILE.PID exists: of the process before exec(), or of an earlier
//                           process with the same id
//
// Threads: one at a time.

namespace coroscope::runtime::inline process {

/// Stores the absolute path of the file that COROSCOPE_TRACE names, because the process may change
/// its folder before it forks. Returns false if the path is too long.
bool name_environment_file(const char* named) noexcept;

/// Returns the path of this process's trace. The result is valid until the next call.
const char* environment_file() noexcept;

/// Returns FILE.PID, for a process that should write FILE although another session records into it
/// already. That session may be in a process that runs at the same time, or in another copy of the
/// library. Returns null if environment_file() was FILE.PID.
const char* environment_file_beside() noexcept;

}  // namespace coroscope::runtime::inline process
