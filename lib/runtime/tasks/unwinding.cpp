// SPDX-License-Identifier: Apache-2.0
#include "unwinding.hpp"

#include <exception>

#include <coroscope/detail/task_transitions.hpp>
#include <coroscope/fiber.hpp>

namespace coroscope::detail {

void end_unwound(task_state& task) noexcept {
    if (is_unwound(task)) return;
    set_flags(task, task_started, task_installed);
    destroy_active(task);
    set_flags(task, task_finished);
}

void leave_unwound(const task_state& task, departure& leaving) noexcept {
    leaving.before = this_thread.frame == &task ? task.before : current_resumer();
    leaving.ticks = 0;
}

int exceptions_here() noexcept {
    const unsigned elsewhere = this_thread.fiber == nullptr ? 0U : this_thread.fiber->task.spare;
    return static_cast<std::uint8_t>(static_cast<unsigned>(std::uncaught_exceptions()) - elsewhere);
}

}  // namespace coroscope::detail
