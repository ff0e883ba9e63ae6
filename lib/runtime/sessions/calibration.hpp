// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cost of recording on this machine, measured once per process before the first session.

#include <cstdint>

namespace coroscope::runtime::inline sessions {

struct recording_cost {
    std::uint32_t scope_ticks_256;  ///< per scope, in 1/256 ticks
    std::uint32_t await_ticks_256;  ///< per suspend and resume
};

/// Thread-safe. Takes well under a millisecond the first time.
recording_cost measure_recording_cost() noexcept;

}  // namespace coroscope::runtime::inline sessions
