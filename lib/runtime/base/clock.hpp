// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the session's clock and the system's clocks. Thread-safe.

#include <cstdint>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline base {

/// The clock that sessions of this process use.
trace::clock_source tick_source() noexcept;

/// Returns false if this thread would be killed for reading the processor's counter (PR_SET_TSC);
/// the C library's clocks read it, too. Such a thread is not registered and must not start a
/// session.
bool counter_may_be_read() noexcept;

/// Returns the current time of that clock. If the source is a counter, detail::counter_ticks()
/// returns the same and is faster.
std::uint64_t current_ticks() noexcept;

/// Returns the current time of CLOCK_MONOTONIC.
std::int64_t monotonic_now() noexcept;

/// Reads the tick clock, CLOCK_MONOTONIC and CLOCK_REALTIME at nearly the same time. Tries several
/// times and returns the readings that took the least time.
trace::clock_point take_clock_point() noexcept;

}  // namespace coroscope::runtime::inline base
