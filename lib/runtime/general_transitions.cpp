// SPDX-License-Identifier: Apache-2.0
#include "general_transitions.hpp"

#include "attribute_nodes.hpp"
#include "frames.hpp"
#include "live_transitions.hpp"
#include "observer_registry.hpp"
#include "recorder.hpp"
#include "task_recording.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

// What the thread goes back to when the task leaves it: a task that was not installed, because
// nothing recorded when it was resumed, leaves things as they are.
void take_leave(const task_state& task, resumer& before) noexcept {
    if ((task.flags & task_installed) != 0) {
        copy_resumer(before, task.before);
    } else {
        save_resumer(before, this_thread.mark);
        before.carried = carried_session(before.carried);  // it was entered without attributes
    }
}

// Was the task resumed, or its awaiter, where nothing needs to know? What outlived a session goes this way.
bool is_quiet(const task_state& task) noexcept {
    return !needs_context(task) && (task.flags & task_fiber) == 0;
}

void find_await_site(task_state& task, const void* where) noexcept {
    if (load_gate() != 0) task.await_site = await_site_id(where);
}

}  // namespace

void spawn_any(task_state& task, bool started) noexcept {
    know(task);
    task.carried = retain_carried(this_thread.carried);
    task.parent |= task_of(this_thread.mark) << mark_thread_bits;
    if (task.task == 0) task.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_spawn(task, started);
    task.before.mark = is_recording(gate) ? record_spawn(task, started) : 0;
    if (!started) return;
    task.before = current_resumer();
    install_task(task);
}

void suspend_any(task_state& task, departure& leaving) noexcept {
    know(task);
    take_leave(task, leaving.before);
    if (task.task == 0) task.task = new_task_id();
    keep_context(task);
    set_flags(task, 0, task_installed);
    this_thread.frame = nullptr;  // it may be gone by the time that something asks for it
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::suspended, task.await_site);
    leaving.ticks = is_recording(gate) ? record_suspend(task, leaving.before) : 0;
    task.before.mark = leaving.ticks;
}

void suspend_any_at(task_state& task, const void* where, departure& leaving) noexcept {
    find_await_site(task, where);
    suspend_any(task, leaving);
}

void resume_any(task_state& task) noexcept {
    know(task);
    set_flags(task, task_started);
    if (is_quiet(task)) return;
    const std::uint64_t suspended_at = task.before.mark;
    save_resumer(task.before, this_thread.mark);
    if (task.task == 0) task.task = new_task_id();
    // The task's session first, the task itself last: a chunk that the record opens names what ran
    // before it.
    if (this_thread.carried != task.carried) [[unlikely]]
        rebind(task.carried);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::running, task.await_site);
    if (is_recording(gate)) record_resume(task, suspended_at);
    install_task(task);
}

void finish_any(task_state& task, departure& leaving) noexcept {
    if (is_unwound(task)) [[unlikely]]
        return leave_unwound(task, leaving);
    know(task);
    take_leave(task, leaving.before);
    if (task.task == 0) task.task = new_task_id();
    this_thread.frame = nullptr;
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_end(task);
    leaving.ticks = is_recording(gate) ? record_finish(task, leaving.before) : 0;
    drop_carried(task.carried);
}

void transfer_any(task_state& awaiter, task_state& awaited) noexcept {
    know(awaiter);
    know(awaited);
    if (!is_installed(awaiter) && is_quiet(awaited)) return;
    take_leave(awaiter, awaited.before);
    if (awaiter.task == 0) awaiter.task = new_task_id();
    keep_context(awaiter);
    set_flags(awaiter, 0, task_installed);
    if (awaited.task == 0) awaited.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_transfer(awaiter, awaited);
    awaiter.before.mark = is_recording(gate) ? record_transfer(awaiter, awaited) : 0;
    install_task(awaited);
}

void transfer_any_at(task_state& awaiter, task_state& awaited, const void* where) noexcept {
    find_await_site(awaiter, where);
    transfer_any(awaiter, awaited);
}

void finish_transfer_any(task_state& finished, task_state& resumed) noexcept {
    if (is_unwound(finished)) [[unlikely]]
        return end_unwound(resumed);  // the exception goes on there
    know(finished);
    know(resumed);
    if (!is_installed(finished) && is_quiet(resumed)) return;
    take_leave(finished, resumed.before);
    if (finished.task == 0) finished.task = new_task_id();
    if (resumed.task == 0) resumed.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_hand_back(finished, resumed);
    if (is_recording(gate)) record_finish_transfer(finished, resumed);
    drop_carried(finished.carried);
    install_task(resumed);
}

}  // namespace coroscope::detail
