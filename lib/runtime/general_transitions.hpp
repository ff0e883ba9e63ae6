// SPDX-License-Identifier: Apache-2.0
#pragma once

// The transitions of tasks whatever the session, the task and the thread: of a task that the session does not know yet, or
// under another session, with attributes, with live tasks tracked. Called where the short way (task_transitions.cpp)
// does not hold, which then has changed nothing.

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

void spawn_any(task_state& task, bool started) noexcept;
void suspend_any(task_state& task, departure& leaving) noexcept;
void suspend_any_at(task_state& task, const void* where, departure& leaving) noexcept;
void resume_any(task_state& task) noexcept;
void finish_any(task_state& task, departure& leaving) noexcept;
void transfer_any(task_state& awaiter, task_state& awaited) noexcept;
void transfer_any_at(task_state& awaiter, task_state& awaited, const void* where) noexcept;
void finish_transfer_any(task_state& finished, task_state& resumed) noexcept;

}  // namespace coroscope::detail
