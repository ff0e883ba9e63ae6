// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends tasks whose frames are destroyed because the stack that runs them is unwound. All functions
// act on the calling thread.

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

/// Returns the number of exceptions that are in flight on the running stack, without those of the
/// stacks that it interrupted. The number is kept in one byte and may wrap: use it only for
/// comparison.
int exceptions_here() noexcept;

/// A task whose frame is unwound with the stack of a suspended fiber has ended. What the frame
/// executes until its destruction counts as no transition.
inline bool is_unwound(const task_state& task) noexcept {
    constexpr unsigned both = task_known | task_finished;
    return (task.flags & (both | task_fiber | task_any_frame)) == both;
}
/// Records that the task has ended now, if it has not ended yet.
void end_unwound(task_state& task) noexcept;
/// Prepares `leaving` for the end of the unwound frame. If the thread is in the frame again, it
/// goes on with the context that the task interrupted; otherwise with the current resumer's.
void leave_unwound(const task_state& task, departure& leaving) noexcept;

}  // namespace coroscope::detail
