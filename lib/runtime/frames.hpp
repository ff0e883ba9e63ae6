// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the recording functions share about the stacks and frames of tasks.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>
#include <coroscope/fiber.hpp>
#include <coroscope/trace/format.hpp>

#include "devices.hpp"
#include "live_transitions.hpp"

namespace coroscope::detail {

/// Does the session that records here know of this?
[[gnu::always_inline]] inline bool knows(std::uint16_t announced) noexcept {
    return announced == static_cast<std::uint16_t>(this_thread.bound_session);
}

/// May a transition of the task go the short way (task_transitions.cpp)?
[[gnu::always_inline]] inline bool is_plain(const task_state& task) noexcept {
    return runtime::only_records(load_gate()) && knows(task.announced) &&
           task.carried == this_thread.carried;
}

/// The same of a task that takes part in the transition of another for which it holds.
[[gnu::always_inline]] inline bool is_plain_beside(const task_state& task,
                                                   const task_state& other) noexcept {
    return task.announced == other.announced && task.carried == other.carried;
}

/// From here on all of the task's state is set, though nothing may have looked at it since it was created.
inline void know(task_state& task) noexcept {
    if ((task.flags & task_known) != 0) return;
    task.task = task.carried = 0;
    task.before = {};
    set_flags(task, task_known);
}

/// The task's id, 0 where it has none.
inline std::uint64_t id_of(const task_state& task) noexcept {
    return (task.flags & task_known) != 0 ? task.task : 0;
}

/// A fiber is created; it does not run yet.
void spawn_suspended_fiber(task_state& task) noexcept;

/// Writes one transition of a task that runs on this thread or is about to; announces it if need be.
void record_transition(task_state& task, trace::record_kind kind, std::uint32_t id,
                       std::uint32_t value, std::uint64_t other) noexcept;

/// The site that a task was spawned at, 0 where that is unknown.
std::uint32_t spawn_site_id(const task_state& task) noexcept;

/// Tells that scopes belong to this context from here on. `flags`: trace::context_restored, where what was before such a
/// record goes on.
void record_context(const resumer& next, std::uint64_t previous, std::uint32_t flags = 0) noexcept;

/// Does the task run, its thread carrying what it carries?
inline bool is_installed(const task_state& task) noexcept {
    return (task.flags & task_installed) != 0;
}

/// Word by word: copied as one vector it would wait for the words that were stored just before.
[[gnu::always_inline]] inline void copy_resumer(resumer& to, const resumer& from) noexcept {
    to.mark = from.mark;
    to.carried = from.carried;
    to.frame = from.frame;
}
/// What the thread does here, which has that mark.
[[gnu::always_inline]] inline void save_resumer(resumer& to, std::uint64_t mark) noexcept {
    to.mark = mark;
    to.carried = this_thread.carried;
    to.frame = this_thread.frame;
}

/// The thread runs this task from here on (a mark's upper part), and carries what it carries. It may have been
/// registered since that was put down: its own part of the mark stays.
[[gnu::always_inline]] inline void run_on(std::uint64_t mark, task_state* frame) noexcept {
    const std::uint64_t before = this_thread.mark;
    this_thread.mark = before ^ ((before ^ mark) & ~mark_thread_mask);
    this_thread.frame = frame;
}

/// The thread does this from here on.
[[gnu::always_inline]] inline void go_on_with(std::uint64_t mark, std::uint64_t carried,
                                              task_state* frame) noexcept {
    run_on(mark, frame);
    if (this_thread.carried != carried) [[unlikely]]
        return runtime::rebind_and_follow(carried);
    if (runtime::devices_follow()) [[unlikely]]
        runtime::follow_current_task();
}

/// How many exceptions are under way on the stack that runs here, those of stacks that it interrupted not counted: of
/// use for comparison only, and in one byte.
int exceptions_here() noexcept;

/// A task whose frame is unwound with the stack of a suspended fiber is over, and what it does until its frame is gone
/// is no transition.
inline bool is_unwound(const task_state& task) noexcept {
    constexpr unsigned both = task_known | task_finished;
    return (task.flags & (both | task_fiber | task_any_frame)) == both;
}
/// It is over from here on.
void end_unwound(task_state& task) noexcept;
/// Its frame is left: where the thread was put back into it meanwhile, it goes on with what it interrupts on its stack.
void leave_unwound(const task_state& task, departure& leaving) noexcept;

/// Exchanges what an integration keeps per thread, though it belongs to the stack that the thread runs.
void swap_stack_place(stack_place& place) noexcept;

}  // namespace coroscope::detail
