// SPDX-License-Identifier: Apache-2.0
#pragma once

// The transitions of tasks in all cases: of a task that the session does not know yet, of another
// session, with attributes, with live tasks tracked. The short path (task_transitions.cpp) calls
// them if its conditions do not hold, before it has changed anything.

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

void spawn_any(task_state& task, bool started) noexcept;
void suspend_any(task_state& task, departure& leaving) noexcept;
void suspend_any_at(task_state& task, const void* where, departure& leaving) noexcept;
void suspend_any_labelled(task_state& task, site& label, departure& leaving) noexcept;
void resume_any(task_state& task) noexcept;
void finish_any(task_state& task, departure& leaving) noexcept;
void transfer_any(task_state& awaiter, task_state& awaited) noexcept;
void transfer_any_at(task_state& awaiter, task_state& awaited, const void* where) noexcept;
void transfer_any_labelled(task_state& awaiter, task_state& awaited, site& label) noexcept;
void finish_transfer_any(task_state& finished, task_state& resumed) noexcept;

}  // namespace coroscope::detail
