// SPDX-License-Identifier: Apache-2.0
#pragma once

// Other copies of this library in the process: one linked into the program, say, and one that a plug-in
// brings. Each has threads, tasks and sessions of its own and sees nothing of the other's, so that work which
// goes from one to the other falls apart.
//
// Threads: any.

namespace coroscope::runtime {

/// Looks for other copies; where there are any, says so on standard error, once, and returns why a session's
/// trace will miss something, as a literal. Else empty. Takes the dynamic loader's lock.
const char* look_for_copies() noexcept;

}  // namespace coroscope::runtime
