// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the calls of the C library that block their thread. The preloaded library
// coroscope-interpose reports them.

#include <cstdint>

namespace coroscope::runtime::inline scopes {

/// Connects the recorder with the preloaded library. From then on each call of at least
/// `shortest_ns` leaves a record in a session that was asked for feature_blocking. Returns false if
/// the library is not loaded. Must be called once, before the first session starts.
bool watch_blocking_calls(std::uint64_t shortest_ns) noexcept;

}  // namespace coroscope::runtime::inline scopes
