// SPDX-License-Identifier: Apache-2.0
#pragma once

// Awaited tasks that the kernel's facts disprove.

#include <span>

#include "tasks/hand_overs.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline loading {

/// Takes back the awaited tasks of an await whose wake is unknown, and their awaiter, if the thread
/// on which the last of them ended went on with the await after it had waited in the kernel,
/// outside of all tasks. A thread that has a task to resume does not wait, so that task waited for
/// something else: a timer, or an event. Must be called after the states of threads are known.
void forget_tasks_before_idle_time(std::span<const presumed_task> presumed, trace& loaded);

}  // namespace coroscope::analysis::inline loading
