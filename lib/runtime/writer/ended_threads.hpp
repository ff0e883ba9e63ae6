// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads that ended and could not leave the recorder. The C library calls no destructor of ours
// for a thread that registers in the last round of its keys' destructors. Such a thread's state is
// gone with its stack, but its record is still in the list.

#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {

/// Removes the records of such threads from the list, and returns the list's first record. The
/// caller must hold registry_mutex(), and must use this instead of first_thread() if it touches the
/// threads' states. A system call per thread. If the kernel has given a thread's id to a new thread
/// meanwhile, the record stays.
thread_record* first_living_thread() noexcept;

}  // namespace coroscope::runtime::inline writer
