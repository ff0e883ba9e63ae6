// SPDX-License-Identifier: Apache-2.0
#pragma once

// A part of a session in which a thread had one state, or an unknown one.

#include <cstdint>

#include <coroscope/analysis/thread_states.hpp>

namespace coroscope::analysis::inline loading {

/// A piece of the session with one state.
struct state_piece {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    thread_state state = thread_state::unknown;
    state_times sums;  ///< of a piece whose state is unknown, if they are known; else 0
};

}  // namespace coroscope::analysis::inline loading
