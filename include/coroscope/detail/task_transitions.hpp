// SPDX-License-Identifier: Apache-2.0
#pragma once

// The transitions of a task, which change its state (task_state.hpp).
//
//        spawn                 enter                     leave
//   (created) ──► spawned ──► running on a thread ──► suspended ──┐
//                                ▲      │  finish                 │ enter
//                                │      └──────────► finished     │
//                                └────────────────────────────────┘
//
// A transition swaps the thread's context and writes one record if a session records. While a task
// runs, `task_state::before` holds the context that the thread had before; the next suspension
// restores it.
//
// If nothing records and neither the thread nor the task carries a context, a transition installs
// nothing, leaves most of the state unset, and costs a few instructions. A session that starts
// later sees the task from its next transition on.
//
// Thread-safety: only the thread that runs, resumes or destroys the coroutine may touch its state.
// Unless a comment says otherwise, each function here must be called on that thread. None of them
// throws.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>
#include <coroscope/site.hpp>

// These functions are inlined into coroutines, which may change threads at a suspension. here() is
// safe for that with every compiler. On a fiber any call may change threads, so they are not
// inlined there.
#if COROSCOPE_FIBERS
#define COROSCOPE_CONTEXT_SWITCH [[gnu::noinline]] inline
#else
#define COROSCOPE_CONTEXT_SWITCH [[gnu::always_inline]] inline
#endif

namespace coroscope::detail {

// The slow halves of the transitions below. An inline function calls its slow half if the
// transition is active: a session, observer or tracker needs it, a context is carried, or the state
// is already known. A slow half writes its record if a session records on this thread, and else
// only swaps contexts.

/// Records the creation of a task that starts suspended, gives it its id and its parent, and
/// retains the attributes of the thread for it. Must be called once per task, before any other
/// transition. The context of the thread stays. Caller: spawn_task().
COROSCOPE_API COROSCOPE_NO_PLT void spawn_active(task_state& task) noexcept;
/// As spawn_active(), for a task that runs at once on this thread. Saves the context of the thread
/// in `task.before` and installs the task. Caller: spawn_task(), for a coroutine that starts
/// eagerly.
COROSCOPE_API COROSCOPE_NO_PLT void spawn_running(task_state& task) noexcept;
/// Records that the task suspends at the site `task.await_site`, which the caller must have set.
/// Moves the context to restore into `leaving.before` and the time into `leaving.ticks` (0 if it
/// was not recorded). The thread keeps the mark of the task until the caller restores
/// `leaving.before`, which it must do after the inner await_suspend has returned. The frame of the
/// task may be destroyed by then; the caller must use `leaving` alone. Typical caller: the switch
/// away from a fiber.
COROSCOPE_API COROSCOPE_NO_PLT void suspend_active(task_state& task, departure& leaving) noexcept;
/// As suspend_active(), at the await whose std::source_location is at `where`. The location must
/// have static storage. Caller: suspend_task(). Returns the way in which the task left. If that is
/// `plain`, only `leaving.ticks` is set: the caller must call leave_plain_task() in place of
/// restore(), and plain_resumer() returns the context to restore.
COROSCOPE_API COROSCOPE_NO_PLT departure_kind suspend_at(task_state& task, const void* where,
                                                         departure& leaving) noexcept;
/// As suspend_at(), at the site `label`. Caller: suspend_task().
COROSCOPE_API COROSCOPE_NO_PLT departure_kind suspend_labelled(task_state& task, site& label,
                                                               departure& leaving) noexcept;
/// Takes back the last suspension of the task, because the await did not suspend. `before` must be
/// the `before` of that suspension's departure. Installs the task again. Must be called on the
/// thread that suspended it, before any other transition of the task. Typical caller: an awaiter
/// whose inner await_suspend returned false or threw.
COROSCOPE_API void cancel_active(task_state& task, const resumer& before) noexcept;
/// Records that the task runs on this thread from now on, saves the context of the thread in
/// `task.before` and installs the task. The task must be suspended or spawned. If the resumption
/// was expected (see restore_and_expect()), the resume is also the wake. Callers: resume_task() and
/// start_task().
COROSCOPE_API COROSCOPE_NO_PLT void resume_active(task_state& task) noexcept;
/// As resume_active(), for a fiber, the outcome of whose await is unknown. Caller: the switch to a
/// fiber.
void resume_fiber(task_state& task) noexcept;
/// Records the end of the task and drops the attributes that it carries. Fills `leaving` as
/// suspend_active() does; the caller must restore `leaving.before`. The task must make no other
/// transition. Caller: finish_task(), at a final suspension that may transfer to another coroutine.
COROSCOPE_API COROSCOPE_NO_PLT void finish_active(task_state& task, departure& leaving) noexcept;
/// As finish_active(), and restores the context of the thread at once. Callers: end_task() and
/// finish_and_resume().
COROSCOPE_API COROSCOPE_NO_PLT void end_active(task_state& task) noexcept;
/// Records in one moment that `awaiter` suspends at the site `awaiter.await_site` and that
/// `awaited` runs on this thread. The context to restore moves from `awaiter.before` to
/// `awaited.before`, and `awaited` is installed. Both states must be alive; `awaited` must be
/// suspended or spawned. For callers that know the id of their site.
COROSCOPE_API COROSCOPE_NO_PLT void transfer_active(task_state& awaiter,
                                                    task_state& awaited) noexcept;
/// As transfer_active(), at the await whose std::source_location is at `where`. Caller:
/// transfer_task().
COROSCOPE_API COROSCOPE_NO_PLT void transfer_at(task_state& awaiter, task_state& awaited,
                                                const void* where) noexcept;
/// As transfer_active(), at the site `label`. Caller: transfer_task().
COROSCOPE_API COROSCOPE_NO_PLT void transfer_labelled(task_state& awaiter, task_state& awaited,
                                                      site& label) noexcept;
/// Records in one moment that `finished` ends and that its awaiter `resumed` runs on. The context
/// to restore moves from `finished.before` to `resumed.before`, and `resumed` is installed.
/// `resumed` must be suspended. Caller: finish_and_resume().
COROSCOPE_API COROSCOPE_NO_PLT void finish_transfer_active(task_state& finished,
                                                           task_state& resumed) noexcept;
/// Records that the task was destroyed before its end, and drops the attributes that it carries. If
/// the task runs on this thread, restores the context of the thread. Must be called on the thread
/// that destroys the task. Typical callers: destroy_task() and the end of a fiber.
COROSCOPE_API void destroy_active(task_state& task) noexcept;
/// Makes `before` the context of the thread. Must be called on the thread that `before` comes from.
/// Typical caller: an awaiter after its inner await_suspend, with `leaving.before`.
COROSCOPE_API COROSCOPE_NO_PLT void restore(const resumer& before) noexcept;
/// As restore(leaving.before). The caller must then resume the coroutine at `next_frame` by
/// symmetric transfer. If that coroutine is a task, its wake is its resume.
COROSCOPE_API COROSCOPE_NO_PLT void restore_and_expect(const departure& leaving,
                                                       void* next_frame) noexcept;

/// For anomaly detection (anomaly.hpp). Each of these should be called only if load_gate() != 0.
///
/// exception_leaves(): the exception that is being handled leaves the task. The caller must be
/// inside the handler. exception_passes(): that exception goes on up the stack, because the promise
/// did not keep it.
COROSCOPE_API void exception_leaves(const task_state& task) noexcept;
COROSCOPE_API void exception_passes(const task_state& task) noexcept;
/// An exception leaves work that is not a coroutine, and cannot be inspected.
COROSCOPE_API void unseen_exception_leaves(std::uint64_t task) noexcept;
/// validates_results() returns whether results are inspected. anomalous_result() reports a result
/// of the task that its validator refused.
COROSCOPE_API bool validates_results() noexcept;
COROSCOPE_API void anomalous_result(const task_state& task) noexcept;

/// An exception leaves the expression of the await that the task was resumed from last. Should be
/// called only if load_gate() != 0, on the thread that runs the task, before anything else of it.
COROSCOPE_API void await_threw(const task_state& task) noexcept;

/// Returns whether a transition of this task needs its slow half.
[[gnu::always_inline]] inline bool is_active(const task_state& task) noexcept {
    return detail::wants_transitions() != 0 || (task.flags & task_known) != 0;
}

/// The task is created. Must be called once, just before its initial suspension or, if `started`,
/// before its first statement.
COROSCOPE_CONTEXT_SWITCH void spawn_task(task_state& task, bool started) noexcept {
    detail::set_flags(task, started ? task_spawned | task_started : task_spawned);
    if (detail::wants_transitions() == 0) [[likely]]
        return;
    if (started)
        detail::spawn_running(task);
    else
        detail::spawn_active(task);
}

/// The task is about to suspend in the await whose std::source_location is at `where`. Unless the
/// transition is quiet, the thread keeps the task's context until the inner await_suspend has
/// returned; the caller must then call leave_task().
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH departure_kind suspend_task(task_state& task,
                                                                   const void* where,
                                                                   departure& leaving) noexcept {
    if (!detail::is_active(task)) [[likely]]
        return departure_kind::quiet;
    return detail::suspend_at(task, where, leaving);
}
/// As above, at the site `label`.
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH departure_kind suspend_task(task_state& task, site& label,
                                                                   departure& leaving) noexcept {
    if (!detail::is_active(task)) [[likely]]
        return departure_kind::quiet;
    return detail::suspend_labelled(task, label, leaving);
}

/// The thread had no task and the same attributes before a plain task: it has none again.
COROSCOPE_CONTEXT_SWITCH void leave_plain_task() noexcept {
    detail::here().mark &= mark_thread_mask;
}
/// The context of the thread before a plain task, which is suspended on this thread.
COROSCOPE_CONTEXT_SWITCH resumer plain_resumer() noexcept {
    return {detail::here().mark & mark_thread_mask, detail::here().carried, nullptr};
}

/// Must be called on the thread of suspend_task(), whose result `how` is, behind the inner
/// await_suspend.
COROSCOPE_CONTEXT_SWITCH void leave_task(departure_kind how, const departure& leaving) noexcept {
    if (how == departure_kind::quiet) [[likely]]
        return;
    if (how == departure_kind::plain)
        detail::leave_plain_task();
    else
        detail::restore(leaving.before);
}
/// As above. The caller must then resume the coroutine at `next_frame` by symmetric transfer.
COROSCOPE_CONTEXT_SWITCH void leave_task_for(departure_kind how, departure& leaving,
                                             void* next_frame) noexcept {
    if (how == departure_kind::quiet) [[likely]]
        return;
    if (how == departure_kind::plain) leaving.before = detail::plain_resumer();
    detail::restore_and_expect(leaving, next_frame);
}

/// The task runs on this thread again. Must be called first in await_resume, before user code runs.
COROSCOPE_CONTEXT_SWITCH void resume_task(task_state& task) noexcept {
    if (detail::is_active(task)) [[unlikely]]
        detail::resume_active(task);
}

/// The task runs for the first time, on this thread.
COROSCOPE_CONTEXT_SWITCH void start_task(task_state& task) noexcept {
    detail::set_flags(task, task_started);
    if (detail::is_active(task)) [[unlikely]]
        detail::resume_active(task);
}

/// As start_task(), for a task<T> that another party than its awaiter resumed. This is rare, so it
/// is not inlined.
COROSCOPE_API COROSCOPE_NO_PLT void start_untold(task_state& task) noexcept;

/// The task has reached its final suspension. Returns false if the transition is quiet. If it
/// returns true, the caller must restore `leaving.before`, as after suspend_task().
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH bool finish_task(task_state& task,
                                                        departure& leaving) noexcept {
    detail::set_flags(task, 0, task_spawned);
    if (!detail::is_active(task)) [[likely]]
        return false;
    detail::finish_active(task, leaving);
    return true;
}

/// The task has reached its end, and no task follows it: the thread goes on with its previous
/// context.
COROSCOPE_CONTEXT_SWITCH void end_task(task_state& task) noexcept {
    detail::set_flags(task, 0, task_spawned);
    if (detail::is_active(task)) [[unlikely]]
        detail::end_active(task);
}

/// The coroutine is destroyed before its end. If it is destroyed while it runs (by itself, in an
/// inner await_suspend), it must have been left already. This is rare, so it is not inlined.
COROSCOPE_API COROSCOPE_NO_PLT void destroy_task(task_state& task) noexcept;

/// Returns whether a transfer between these tasks needs its slow half.
[[gnu::always_inline]] inline bool are_active(const task_state& awaiter,
                                              const task_state& awaited) noexcept {
    return detail::wants_transitions() != 0 || ((awaiter.flags | awaited.flags) & task_known) != 0;
}

/// `awaiter` suspends and `awaited` runs, in one moment. Both must be instrumented coroutines.
/// `where` is the address of a std::source_location, as for suspend_task().
COROSCOPE_CONTEXT_SWITCH void transfer_task(task_state& awaiter, task_state& awaited,
                                            const void* where) noexcept {
    detail::set_flags(awaited, task_started);
    if (detail::are_active(awaiter, awaited)) [[unlikely]]
        detail::transfer_at(awaiter, awaited, where);
}
/// As above, at the site `label`.
COROSCOPE_CONTEXT_SWITCH void transfer_task(task_state& awaiter, task_state& awaited,
                                            site& label) noexcept {
    detail::set_flags(awaited, task_started);
    if (detail::are_active(awaiter, awaited)) [[unlikely]]
        detail::transfer_labelled(awaiter, awaited, label);
}

/// The awaited task `finished` ends and its awaiter `resumed` runs on, in one moment. If `resumed`
/// is null, the awaiter is not a task, and the thread goes on with its previous context.
COROSCOPE_CONTEXT_SWITCH void finish_and_resume(task_state& finished,
                                                task_state* resumed) noexcept {
    detail::set_flags(finished, 0, task_spawned);
    // If the state of its awaiter is known, so is its own, since the transfer.
    if (!detail::is_active(finished)) [[likely]]
        return;
    if (resumed != nullptr) {
        detail::finish_transfer_active(finished, *resumed);
    } else {
        detail::end_active(finished);
    }
}

}  // namespace coroscope::detail
