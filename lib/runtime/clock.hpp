// SPDX-License-Identifier: Apache-2.0
#pragma once

// Moments on the session's clock and on the system's. Thread-safe.

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime {

/// The clock that sessions of this process use.
trace::clock_source tick_source() noexcept;

/// False where reading the processor's counter, which the C library's clocks do, too, ends the process of this thread
/// (PR_SET_TSC). Such a thread is not registered, and a session's start is refused to it.
bool counter_may_be_read() noexcept;

/// Now on that clock. detail::counter_ticks() is the same, and faster, where the source is a counter.
std::uint64_t current_ticks() noexcept;

/// One moment on the tick clock, CLOCK_MONOTONIC and CLOCK_REALTIME: the tightest of several tries.
trace::clock_point take_clock_point() noexcept;

}  // namespace coroscope::runtime
