// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates the file of a trace. An attacker who plants a file or a link at its path can neither
// redirect our writes nor read them.
//
// Threads: any.

namespace coroscope::runtime::inline store {

/// Creates an empty trace file that only its user can access (0600), opens it as the descriptor
/// `file` and locks it. The descriptor is 64 or above; if the limit on descriptors is lower, it is
/// 3 or above. Returns 0 or an errno.
///
/// An existing trace or empty file of this user is replaced by a new file, so that a process that
/// has the old file open keeps it. If the folder does not allow that, the old file is emptied. Any
/// other file is left as it is, with the result ELOOP (a symbolic link), EISDIR, EINVAL (not a
/// regular file), EMLINK (the file has other names), EPERM (another user's file), EEXIST (not a
/// trace), or EBUSY (a process records into it).
int create_trace_file(const char* path, int& file) noexcept;

/// Returns whether a process records into the trace at `path`.
bool is_being_recorded(const char* path) noexcept;

/// Removes the file at `path` if create_trace_file() would replace it.
void remove_trace_file(const char* path) noexcept;

/// Returns the meaning of an error and its remedy, as a literal. `error` is a result of
/// create_trace_file(), or an errno of a later step in creating the trace at `path`.
const char* why_no_trace_file(int error, const char* path) noexcept;

}  // namespace coroscope::runtime::inline store
