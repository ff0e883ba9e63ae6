// SPDX-License-Identifier: Apache-2.0
#pragma once

// Faults of the program's build, as far as an integration can see them. A session asks at its
// start; faults that show later are recorded by the sessions that are live then.

#include <cstdint>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline sessions {

/// Returns the state as far as it is known. Thread-safe. Asio's integration defines this function
/// and the next one (program_faults_asio.cpp).
trace::asio_tracking asio_tracking() noexcept;

/// The versions of the tracked Asio and of the tracked Boost.Asio; 0: not tracked.
struct asio_versions {
    std::uint32_t asio;
    std::uint32_t boost_asio;
};
asio_versions tracked_asio_versions() noexcept;

/// Returns the reason for which a session misses records, as a literal; empty if no fault is known.
const char* message_of(trace::asio_tracking state) noexcept;

/// Records the state in the session of this thread.
void tell_asio_tracking(trace::asio_tracking state) noexcept;

}  // namespace coroscope::runtime::inline sessions
