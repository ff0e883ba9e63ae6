// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording half of task transitions. Each function writes one record on the thread where the
// transition happens; a task that the session does not know yet is announced first.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

// Those that return something return the ticks of the transition.

std::uint64_t record_spawn(task_state& task, bool started) noexcept;
std::uint64_t record_suspend(task_state& task, const resumer& next) noexcept;
void record_resume(task_state& task, std::uint64_t suspended_at) noexcept;
void record_cancel(task_state& task) noexcept;
std::uint64_t record_finish(task_state& task, const resumer& next) noexcept;
std::uint64_t record_transfer(task_state& awaiter, task_state& awaited) noexcept;
void record_finish_transfer(task_state& finished, task_state& resumed) noexcept;
/// Wherever it is called, and whether or not something records there.
void record_destroyed(task_state& task) noexcept;

inline std::uint32_t end_flags(const task_state& task) noexcept {
    return (task.flags & task_exception) != 0 ? trace::finish_exception : 0U;
}

}  // namespace coroscope::detail
