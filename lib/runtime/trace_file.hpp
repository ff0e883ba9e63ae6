// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file of a trace: made so that nobody who plants something at its path makes us write there, or
// reads what we write.
//
// Threads: any.

namespace coroscope::runtime {

/// Creates the file of a trace: new, empty, for its user alone (0600) and locked by this process, as the
/// descriptor `file`, whose number is none of the standard streams' and, where a limit does not forbid it, 64 or above.
/// A trace of this user's that stands there is replaced: by a new file, so that whoever has
/// the old one open keeps it; where the folder does not let us, in place. Whatever else stands there stays
/// as it is, and the result is an errno: ELOOP for a symbolic link, EISDIR, EINVAL for what is no regular
/// file, EMLINK for a file that has other names, EPERM for another user's, EEXIST for one that is no
/// trace, EBUSY for one that a process records into.
int create_trace_file(const char* path, int& file) noexcept;

/// What such an error means, as a literal.
const char* why_no_trace_file(int error) noexcept;

}  // namespace coroscope::runtime
