// SPDX-License-Identifier: Apache-2.0
#pragma once

// Interruptions: awaits without an await expression. The task resumed another task in the middle of
// its own code, and was suspended while that task ran on top of it.

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

[[nodiscard]] constexpr bool is_interruption(const await_info& await) noexcept {
    return await.handed_over && await.site == none;
}

/// Returns whether the session ended within the interruption. Then the task on top had the thread
/// to the end, so the interrupted task was suspended and not ready. Precondition: await.task is an
/// index into trace::tasks.
[[nodiscard]] inline bool is_held(const trace& loaded, const await_info& await) noexcept {
    return is_interruption(await) && !await.wake_ns && !await.resume_ns &&
           loaded.tasks[await.task].state == task_state::suspended;
}

}  // namespace coroscope::analysis::inline model
