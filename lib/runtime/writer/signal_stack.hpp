// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stack of the thread's own for signal handlers, so that a crash report can be written when the
// thread's stack has overflowed. For the calling thread only.

#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {

/// Gives this thread a stack for its signal handlers, unless it has one, so that an overflow of its
/// own stack can be reported.
void give_signal_stack(thread_record& thread) noexcept;

/// Removes the stack. Must be called when the thread ends.
void take_signal_stack(thread_record& thread) noexcept;

}  // namespace coroscope::runtime::inline writer
