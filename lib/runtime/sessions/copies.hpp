// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds other copies of this library in the process. For example, one copy is linked into the
// program and a plug-in contains another one. Each copy has its own threads, tasks and sessions,
// and does not see those of the others. A task that passes from code of one copy to code of another
// is recorded as two unrelated ones.
//
// Threads: any.

namespace coroscope::runtime::inline sessions {

/// Looks for other copies of the runtime. If there are any, reports them once on standard error and
/// returns the reason for which a session's trace will miss records, as a literal; else returns an
/// empty text. Takes the dynamic loader's lock.
const char* look_for_copies() noexcept;

}  // namespace coroscope::runtime::inline sessions
