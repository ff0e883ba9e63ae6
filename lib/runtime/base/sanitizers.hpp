// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sanitizers that the program was built with, as far as the runtime must know.

namespace coroscope::runtime::inline base {

/// Returns whether a forked child may start threads. ThreadSanitizer ends a child that does so if
/// the parent had several threads.
bool may_start_threads_after_fork() noexcept;

/// Makes LeakSanitizer ignore the calling thread's further allocations. A thread of ours needs it:
/// a forked child does not have the thread, and LeakSanitizer would report the thread's memory
/// there.
void ignore_leaks_of_this_thread() noexcept;

}  // namespace coroscope::runtime::inline base
