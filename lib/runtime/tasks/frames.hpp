// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions about the stacks and frames of tasks that the recording functions share.

#include <cstdint>

#include <coroscope/detail/task_transitions.hpp>
#include <coroscope/fiber.hpp>
#include <coroscope/trace/format.hpp>

#include "../devices/devices.hpp"
#include "transition_gates.hpp"

namespace coroscope::detail {

/// Returns whether the session that records here has a record of the task or job whose last session
/// is `announced`.
[[gnu::always_inline]] inline bool knows(std::uint16_t announced) noexcept {
    return announced == static_cast<std::uint16_t>(this_thread.bound_session);
}

/// Returns whether a transition of the task may take the short path (task_transitions.cpp).
[[gnu::always_inline]] inline bool is_plain(const task_state& task) noexcept {
    return runtime::only_records(load_gate()) && knows(task.announced) &&
           task.carried == this_thread.carried;
}

/// The same of a task that takes part in the transition of another for which it holds.
[[gnu::always_inline]] inline bool is_plain_beside(const task_state& task,
                                                   const task_state& other) noexcept {
    return task.announced == other.announced && task.carried == other.carried;
}

/// Returns whether all of the task's state is set. It is set at the task's first transition that
/// needs it, not at its creation.
inline bool is_known(const task_state& task) noexcept { return (task.flags & task_known) != 0; }

/// From here on all of the task's state is set, though nothing may have looked at it since it was
/// created.
inline void know(task_state& task) noexcept {
    if (is_known(task)) return;
    task.task = task.carried = 0;
    task.before = {};
    set_flags(task, task_known);
}

/// The task's id, 0 if it has none.
inline std::uint64_t id_of(const task_state& task) noexcept {
    return is_known(task) ? task.task : 0;
}

/// Returns whether the task runs and its thread carries the task's attributes.
inline bool is_installed(const task_state& task) noexcept {
    return (task.flags & task_installed) != 0;
}

/// Word by word: copied as one vector it would wait for the words that were stored just before.
[[gnu::always_inline]] inline void copy_resumer(resumer& to, const resumer& from) noexcept {
    to.mark = from.mark;
    to.carried = from.carried;
    to.frame = from.frame;
}
/// Saves the context of this thread, whose mark is `mark`.
[[gnu::always_inline]] inline void save_resumer(resumer& to, std::uint64_t mark) noexcept {
    to.mark = mark;
    to.carried = this_thread.carried;
    to.frame = this_thread.frame;
}

/// The thread runs this task from here on (the upper part of `mark`), and carries its attributes.
/// The thread may have been registered since the mark was saved: its own part of the mark stays.
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

/// The mark of a frame that is called: frames are aligned.
[[nodiscard]] inline const void* called(const void* frame) noexcept {
    return static_cast<const char*>(frame) + 1;
}

/// The coroutine at `frame` is resumed next on this thread: if it is a task that has been suspended
/// since before `ticks`, its wake is its resume. Nothing is expected if nothing recorded that
/// moment (0).
[[gnu::always_inline]] inline void expect_handover(const void* frame,
                                                   std::uint64_t ticks) noexcept {
    if (ticks == 0) [[unlikely]]
        return;
    this_thread.handover_target = frame;
    this_thread.handover_ticks = ticks;
}

/// The same, but the work that runs here calls the coroutine.
inline void expect_call(const void* frame, std::uint64_t ticks) noexcept {
    expect_handover(called(frame), ticks);
}

/// Returns whether the task that is resumed here, and was suspended at those ticks, is the expected
/// one, behind a symmetric transfer.
[[gnu::always_inline]] inline bool is_expected(const task_state& task,
                                               std::uint64_t suspended_at) noexcept {
    const void* frame = frame_address(task);
    return frame != nullptr && this_thread.handover_target == frame &&
           this_thread.handover_ticks >= suspended_at;
}

/// The same for the task that expect_call() expects. Returns its flags of the resume, or 0.
inline std::uint32_t call_flags(const task_state& task, std::uint64_t suspended_at) noexcept {
    const void* frame = frame_address(task);
    const bool is_called = frame != nullptr && this_thread.handover_target == called(frame) &&
                           this_thread.handover_ticks >= suspended_at;
    return is_called ? trace::resume_handed_over | trace::resume_called : 0U;
}

/// Exchanges the data that an integration keeps per thread although it belongs to the running
/// stack.
void swap_stack_place(stack_place& place) noexcept;

}  // namespace coroscope::detail
