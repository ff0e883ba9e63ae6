// SPDX-License-Identifier: Apache-2.0
#include "general_transitions.hpp"

#include "../carried/attribute_nodes.hpp"
#include "../observers/observer_registry.hpp"
#include "../writer/recorder.hpp"
#include "../writer/session_table.hpp"
#include "frames.hpp"
#include "left_out.hpp"
#include "live_transitions.hpp"
#include "overdue_resumes.hpp"
#include "task_recording.hpp"
#include "unwinding.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

// Can the resumption of the task, or of its awaiter, go unrecorded? Tasks that outlived a session
// take this path.
bool is_quiet(const task_state& task) noexcept {
    return !needs_context(task) && (task.flags & task_fiber) == 0;
}

// Returns whether a context with `carried` records into another session than the thread's current
// context.
bool changes_session(std::uint64_t carried) noexcept {
    const std::uint32_t next = carried_session(carried);
    const std::uint32_t now = carried_session(this_thread.carried);
    if (next == now) return false;
    if (((next ^ now) & left_out_request) != 0) return true;
    return find_session(session_generation(next)) != find_session(session_generation(now));
}

// In its own session, which did not see the thread's earlier tasks.
void record_resume_elsewhere(task_state& task, std::uint64_t suspended_at,
                             std::uint32_t outcome) noexcept {
    rebind(task.carried);
    if (is_recording()) record_resume(task, suspended_at, outcome);
}

// In place of the moment of a suspension that nothing recorded. 0: the task is not known to be
// suspended.
constexpr std::uint64_t no_ticks = 1;

std::uint64_t moment(std::uint64_t ticks) noexcept { return ticks == 0 ? no_ticks : ticks; }

// The task runs, and is not installed.
void run_untold(task_state& task) noexcept { task.before.mark = 0; }

// Precondition: the task is not installed, and has an id.
[[gnu::always_inline]] inline void run_again(task_state& task, std::uint32_t flags) noexcept {
    const std::uint64_t suspended_at = task.before.mark;
    save_resumer(task.before, this_thread.mark);
    // The task's session first, the task itself last: if the record opens a chunk, the chunk's
    // header must name the task that ran before.
    if (this_thread.carried != task.carried) [[unlikely]]
        rebind(task.carried);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::running, task.await_site);
    if (is_recording(gate)) record_resume(task, suspended_at, flags);
    install_task(task);
}

// Returns whether the task certainly has the state `flags` (running or suspended). That is
// uncertain if the task's state was never completed, or a resumption may be overdue.
[[gnu::always_inline]] inline bool certainly_has(const task_state& task, unsigned flags) noexcept {
    return (task.flags & (task_known | task_installed)) == flags && task.spare == 0;
}
constexpr unsigned running = task_known | task_installed;
constexpr unsigned resting = task_known;

// A task leaves its thread, and it is not certain that the recorder saw it run. If it counts as
// suspended, it was resumed some time before without a call.
void catch_up(task_state& task) noexcept {
    if (is_installed(task) || !awaits_in_expressions(task) || task.before.mark == 0) return;
    if (is_quiet(task)) return run_untold(task);
    run_again(task, trace::resume_overdue);
}

void catch_up_ending(task_state& task) noexcept {
    know(task);
    catch_up(task);
    if (task.task == 0) task.task = new_task_id();
}
void catch_up_suspending(task_state& task) noexcept {
    know(task);
    if (is_installed(task)) return pass_suspension(task);
    expect_overdue(task, longest_expression);
    catch_up(task);
    if (task.task == 0) task.task = new_task_id();
    if (!is_installed(task)) own_attributes(task.task, this_thread.carried);
}

// As in is_resumed(), and other awaits of the expression may follow.
[[gnu::cold, gnu::noinline]] void know_awaiter(task_state& awaiter) noexcept {
    know(awaiter);
    expect_overdue(awaiter, longest_expression);
}

// A task that was not installed, because nothing recorded when it was resumed, leaves things as
// they are.
template <auto CatchUp>
[[gnu::cold, gnu::noinline]] void catch_up_and_leave(task_state& task, resumer& before) noexcept {
    CatchUp(task);
    if (is_installed(task)) return copy_resumer(before, task.before);
    save_resumer(before, this_thread.mark);
    // The task was entered without attributes and outside requests.
    before.carried = outside_requests(carried_session(before.carried));
}

// The context to which the thread returns when the task leaves it. From here on the task has an id.
template <auto CatchUp>
[[gnu::always_inline]] inline void take_leave(task_state& task, resumer& before) noexcept {
    if (!certainly_has(task, running)) [[unlikely]]
        return catch_up_and_leave<CatchUp>(task, before);
    copy_resumer(before, task.before);
}

// A resumption arrives of a task of which it is not plain that it is suspended. False: it is
// overdue. If nothing has looked at the task before, other awaits of the expression may have passed
// unseen.
[[gnu::cold, gnu::noinline]] bool is_resumed(task_state& task) noexcept {
    if (is_known(task)) {
        pass_last_await(task);
    } else {
        know(task);
        expect_overdue(task, 1);
    }
    if (task.task == 0) task.task = new_task_id();
    return !is_installed(task);
}

// `where`: the address of a std::source_location, or a label.
template <class Where>
void find_await_site(task_state& task, Where&& where) noexcept {
    if (load_gate() != 0) task.await_site = await_site_id(where);
}

}  // namespace

void spawn_any(task_state& task, bool started) noexcept {
    const task_origin origin = is_known(task) ? task_origin{} : noted_origin(task);
    know(task);
    task.carried = retain_carried(this_thread.carried);
    task.parent |= task_of(this_thread.mark) << mark_thread_bits;
    if (task.task == 0) task.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_spawn(task, started);
    task.before.mark = is_recording(gate) ? record_spawn(task, origin, started) : 0;
    if (!started) return;
    task.before = current_resumer();
    install_task(task);
}

void suspend_any(task_state& task, departure& leaving) noexcept {
    take_leave<catch_up_suspending>(task, leaving.before);
    keep_carried(task.carried, this_thread.carried);
    set_flags(task, 0, task_installed);
    this_thread.frame = nullptr;  // it may be gone by the time that something asks for it
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::suspended, task.await_site);
    leaving.ticks = is_recording(gate) ? record_suspend(task, leaving.before) : 0;
    task.before.mark = moment(leaving.ticks);
}

void suspend_any_at(task_state& task, const void* where, departure& leaving) noexcept {
    find_await_site(task, where);
    suspend_any(task, leaving);
}

void suspend_any_labelled(task_state& task, site& label, departure& leaving) noexcept {
    find_await_site(task, label);
    suspend_any(task, leaving);
}

void resume_any(task_state& task) noexcept {
    set_flags(task, task_started);
    if (!certainly_has(task, resting) && !is_resumed(task)) [[unlikely]]
        return;
    if (is_quiet(task)) return run_untold(task);
    run_again(task, resume_outcome(task));
}

void finish_any(task_state& task, departure& leaving) noexcept {
    if (is_unwound(task)) [[unlikely]]
        return leave_unwound(task, leaving);
    return_at_end(task);
    take_leave<catch_up_ending>(task, leaving.before);
    this_thread.frame = nullptr;
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_end(task);
    leaving.ticks = is_recording(gate) ? record_finish(task, leaving.before) : 0;
    drop_carried(task.carried);
}

void transfer_any(task_state& awaiter, task_state& awaited) noexcept {
    know(awaited);
    const std::uint64_t suspended_at = awaited.before.mark;
    take_leave<catch_up_suspending>(awaiter, awaited.before);
    if (!is_installed(awaiter) && is_quiet(awaited)) return run_untold(awaited);
    keep_carried(awaiter.carried, this_thread.carried);
    set_flags(awaiter, 0, task_installed);
    if (awaited.task == 0) awaited.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_transfer(awaiter, awaited);
    if (changes_session(awaited.carried)) [[unlikely]] {
        awaiter.before.mark =
            moment(is_recording(gate) ? record_suspend(awaiter, awaited.before) : 0);
        record_resume_elsewhere(awaited, suspended_at, 0);
    } else {
        awaiter.before.mark = moment(is_recording(gate) ? record_transfer(awaiter, awaited) : 0);
    }
    install_task(awaited);
}

void transfer_any_at(task_state& awaiter, task_state& awaited, const void* where) noexcept {
    find_await_site(awaiter, where);
    transfer_any(awaiter, awaited);
}

void transfer_any_labelled(task_state& awaiter, task_state& awaited, site& label) noexcept {
    find_await_site(awaiter, label);
    transfer_any(awaiter, awaited);
}

void finish_transfer_any(task_state& finished, task_state& resumed) noexcept {
    if (is_unwound(finished)) [[unlikely]]
        return end_unwound(resumed);  // the exception goes on there
    return_at_end(finished);
    if (!is_known(resumed)) [[unlikely]]
        know_awaiter(resumed);
    const std::uint64_t suspended_at = resumed.before.mark;
    take_leave<catch_up_ending>(finished, resumed.before);
    if (!is_installed(finished) && is_quiet(resumed)) return run_untold(resumed);
    if (resumed.task == 0) resumed.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_hand_back(finished, resumed);
    if (changes_session(resumed.carried)) [[unlikely]] {
        if (is_recording(gate)) record_finish(finished, resumed.before);
        const bool failed = (finished.flags & task_exception) != 0;
        record_resume_elsewhere(resumed, suspended_at,
                                trace::make_outcome(failed ? trace::await_outcome::exception
                                                           : trace::await_outcome::value));
    } else if (is_recording(gate)) {
        record_finish_transfer(finished, resumed);
    }
    drop_carried(finished.carried);
    install_task(resumed);
}

}  // namespace coroscope::detail
