// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is wrong with how the program was built, as far as an integration can see it. A session finds out at
// its start; what shows later is told to the sessions that record then.

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime {

/// What is known so far. Any thread.
trace::asio_tracking asio_tracking() noexcept;

/// Why a session misses something, as a literal; empty where nothing is known to be wrong.
const char* message_of(trace::asio_tracking state) noexcept;

/// Tells the session that records on this thread.
void tell_asio_tracking(trace::asio_tracking state) noexcept;

}  // namespace coroscope::runtime
