// SPDX-License-Identifier: Apache-2.0
#pragma once

// Several awaits in one expression. g++ suspends the coroutine in all of them, one after the other,
// before it calls the first await_resume(): in `co_await a + co_await b` that of a comes after the
// end of b. So a task may suspend although its resumption was not reported, and after the end of b
// resumptions of a running task are reported: they are overdue.
//
// A task's `spare` counts for how many more suspensions such a resumption may come. The last await
// of an expression has no suspension behind it: once its resumption arrives, the overdue ones come
// before the next suspension.
//
// The short path (task_transitions.cpp) does not check for them. While one may come, the task's
// `announced` is hidden: it equals no session's number, and all transitions of the task take the
// general path.

#include <algorithm>
#include <cstdint>

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

/// More awaits than any expression has.
inline constexpr std::uint8_t longest_expression = 255;

/// Returns whether the task is a coroutine. Fibers use `spare` for another value, and tasks of Asio
/// are recorded in another way.
[[nodiscard]] inline bool awaits_in_expressions(const task_state& task) noexcept {
    return (task.flags & (task_fiber | task_any_frame)) == 0;
}

/// Returns whether a resumption of the task may be overdue.
[[nodiscard]] inline bool may_be_overdue(const task_state& task) noexcept {
    return awaits_in_expressions(task) && task.spare != 0;
}

/// Turns a session's number into one of no session, and back. go_live() in session.cpp gives no
/// session such a number.
inline constexpr std::uint16_t hidden_session = 0x8000;

/// Returns whether the session that records here has a record of the task.
[[nodiscard]] inline std::uint16_t announcement(const task_state& task) noexcept {
    const unsigned hidden = may_be_overdue(task) ? hidden_session : 0U;
    return static_cast<std::uint16_t>(here().bound_session ^ hidden);
}
[[nodiscard]] inline bool is_announced(const task_state& task) noexcept {
    return task.announced == announcement(task);
}

/// A resumption may be overdue for so many more suspensions.
inline void expect_overdue(task_state& task, std::uint8_t suspensions) noexcept {
    if (!awaits_in_expressions(task)) return;
    const bool changes = (task.spare == 0) != (suspensions == 0);
    if (changes && task.announced != unknown_session) task.announced ^= hidden_session;
    task.spare = suspensions;
}

/// The task suspends, and is known to have run since its last suspension.
inline void pass_suspension(task_state& task) noexcept {
    if (may_be_overdue(task)) expect_overdue(task, static_cast<std::uint8_t>(task.spare - 1));
}

/// A resumption has arrived: that of the last await in its expression.
inline void pass_last_await(task_state& task) noexcept {
    if (may_be_overdue(task)) expect_overdue(task, 1);
}

}  // namespace coroscope::detail
