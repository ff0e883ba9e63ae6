// SPDX-License-Identifier: Apache-2.0
#pragma once

// The states of one kernel thread id over a session, from its switches and the kernel's sums.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/thread_states.hpp>

#include "records/kernel_records.hpp"
#include "state_piece.hpp"

namespace coroscope::analysis::inline loading {

/// All pieces of one kernel thread id: they cover the session without gaps.
struct state_pieces {
    std::vector<state_piece> pieces;
    std::uint64_t contradictions = 0;  ///< records that contradict the one before
};

/// If `has_each_switch`, a thread that a look found waiting waited until its next switch.
[[nodiscard]] state_pieces pieces_of(const kernel_thread& thread,
                                     const std::vector<lost_stretch>& lost, bool has_each_switch,
                                     std::int64_t duration_ns);

/// The part of the pieces between two moments, as the history of a thread.
[[nodiscard]] thread_history history_between(const std::vector<state_piece>& pieces,
                                             const std::vector<thread_sums>& sums,
                                             std::int64_t from_ns, std::int64_t to_ns);

}  // namespace coroscope::analysis::inline loading
