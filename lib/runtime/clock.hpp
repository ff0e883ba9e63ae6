// SPDX-License-Identifier: Apache-2.0
#pragma once

// Moments on the session's clock and on the system's. Thread-safe.

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime {

/// The clock that sessions of this process use.
trace::clock_source tick_source() noexcept;

/// Now on that clock. detail::counter_ticks() is the same, and faster, where the source is a counter.
std::uint64_t current_ticks() noexcept;

/// One moment on the tick clock, CLOCK_MONOTONIC and CLOCK_REALTIME: the tightest of several tries.
trace::clock_point take_clock_point() noexcept;

}  // namespace coroscope::runtime
