// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides the times between two switches more exactly than the switches do, by the kernel's sums.
//
// A switch does not show when the kernel woke a thread that waited: the delay of the wake-up counts
// as blocked. Nor does it include the kernel's own work for the switch. The kernel's sums of a
// thread have both. The difference of two sums divides the waits that ended between them.

#include <vector>

#include "records/kernel_records.hpp"
#include "state_piece.hpp"

namespace coroscope::analysis::inline loading {

/// If the delay of a wait is known, the end of the wait becomes a preempted piece. Moves the
/// kernel's work for a switch to the time on a processor. If several waits end between two sums,
/// they share the difference evenly, up to their lengths. `sums`: by time, of the thread of
/// `pieces`.
void divide_waits(std::vector<state_piece>& pieces, const std::vector<thread_sums>& sums);

}  // namespace coroscope::analysis::inline loading
