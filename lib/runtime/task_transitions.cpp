// SPDX-License-Identifier: Apache-2.0

// The transitions of tasks where something records or a context is carried. Most are alike: of a task that
// the session knows, under that session and nothing else, on a thread that carries what the task carries. They go
// a short way, which tests for these things and, before it has changed anything, calls the general function
// (general_transitions.hpp) where one of them is different: so nothing needs to be kept over a call.

#include <coroscope/detail/task_state.hpp>

#include "attribute_nodes.hpp"
#include "frames.hpp"
#include "general_transitions.hpp"
#include "live_transitions.hpp"
#include "observer_registry.hpp"
#include "recent_sites.hpp"
#include "recorder.hpp"
#include "task_recording.hpp"

namespace coroscope::detail {

namespace {

using namespace runtime;

constexpr bool carries_attributes(std::uint64_t carried) noexcept { return carried >> 32 != 0; }

// Runs the task of that id from here on; the thread, which had that mark, carries what it carries. Both are at hand:
// behind the stores to a record the compiler would load them again.
[[gnu::always_inline]] inline void run(task_state& task, std::uint64_t id,
                                       std::uint64_t mark) noexcept {
    this_thread.mark = id << mark_thread_bits | (mark & mark_thread_mask);
    this_thread.frame = &task;
}

// The general function, called from where the compiler puts what is seldom executed, out of the short way.
template <auto General, class... Arguments>
[[gnu::cold, gnu::noinline]] void rarely(Arguments&&... arguments) noexcept {
    General(arguments...);
}

// May a transition of the task go the short way? That something records is told by the room for a record.
[[gnu::always_inline]] inline bool is_short(const task_state& task) noexcept {
    return no_more_than_records(load_gate_once()) && knows(task.announced) &&
           task.carried == this_thread.carried;
}

// The same of a task that has just been created, at a place that was seen before, by someone without attributes.
[[gnu::always_inline]] inline bool is_short_spawn(const task_state& task,
                                                  std::uint32_t& site) noexcept {
    return no_more_than_records(load_gate_once()) && !carries_attributes(this_thread.carried) &&
           !out_of_task_ids() && recent_sites<site_kind::coroutine>::find(task.where, site);
}

// The thread is in no task's slice; its mark still is.
[[gnu::always_inline]] inline void leave_slice(task_state& task) noexcept {
    set_flags(task, 0, task_installed);
    this_thread.frame = nullptr;
}

template <bool Started>
[[gnu::always_inline]] inline void spawn(task_state& task) noexcept {
    std::uint32_t site = 0;
    char* at = nullptr;
    if (!is_short_spawn(task, site) || !find_long_place(at)) [[unlikely]]
        return rarely<spawn_any>(task, Started);
    constexpr std::uint32_t flags = Started ? trace::spawn_started | trace::spawn_ready : 0U;
    const std::uint64_t mark = this_thread.mark;
    const std::uint64_t id = this_thread.next_task++;
    const std::uint64_t ticks = counter_ticks();
    fill_record(at, ticks, make_tag(record_kind::spawn, site, flags), id, task_of(mark));
    task.task = id;
    task.carried = this_thread.carried;
    task.parent |= mark & ~mark_thread_mask;
    task.announced = static_cast<std::uint16_t>(this_thread.bound_session);
    if constexpr (Started) {
        set_flags(task, task_known | task_installed);
        save_resumer(task.before, mark);
        run(task, id, mark);
    } else {
        set_flags(task, task_known);
        task.before.mark = ticks;
    }
}

}  // namespace

void spawn_suspended_fiber(task_state& task) noexcept { spawn_any(task, false); }
void spawn_active(task_state& task) noexcept { spawn<false>(task); }
void spawn_running(task_state& task) noexcept { spawn<true>(task); }

namespace {

// May a suspension at that site go the short way? Its ticks and place.
[[gnu::always_inline]] inline bool suspend(task_state& task, std::uint32_t site,
                                           departure& leaving) noexcept {
    char* at = nullptr;
    if (!find_long_place(at)) [[unlikely]]
        return false;
    const std::uint64_t ticks = counter_ticks();
    copy_resumer(leaving.before, task.before);
    leaving.ticks = ticks;
    task.before.mark = ticks;
    task.await_site = site;
    leave_slice(task);
    fill_record(at, ticks, make_tag(record_kind::suspend, site, 0), task.task,
                task_of(leaving.before.mark));
    return true;
}

[[gnu::always_inline]] inline bool transfer(task_state& awaiter, task_state& awaited,
                                            std::uint32_t site) noexcept {
    char* at = nullptr;
    if (!is_plain_beside(awaited, awaiter) || !find_long_place(at)) [[unlikely]]
        return false;
    const std::uint64_t id = awaited.task;
    const std::uint64_t ticks = counter_ticks();
    fill_record(at, ticks, make_tag(record_kind::transfer, site, 0), awaiter.task, id);
    copy_resumer(awaited.before, awaiter.before);
    awaiter.before.mark = ticks;
    awaiter.await_site = site;
    set_flags(awaiter, 0, task_installed);
    set_flags(awaited, task_installed);
    run(awaited, id, this_thread.mark);
    return true;
}

// May a task that runs leave the short way, at a place that was seen before?
[[gnu::always_inline]] inline bool may_leave(const task_state& task) noexcept {
    return is_short(task) && is_installed(task);
}
[[gnu::always_inline]] inline bool may_leave(const task_state& task, const void* where,
                                             std::uint32_t& site) noexcept {
    return may_leave(task) && recent_sites<site_kind::await>::find(where, site);
}

}  // namespace

void suspend_active(task_state& task, departure& leaving) noexcept {
    if (!may_leave(task) || !suspend(task, task.await_site, leaving)) [[unlikely]]
        rarely<suspend_any>(task, leaving);
}

void suspend_at(task_state& task, const void* where, departure& leaving) noexcept {
    std::uint32_t site = 0;
    if (!may_leave(task, where, site) || !suspend(task, site, leaving)) [[unlikely]]
        rarely<suspend_any_at>(task, where, leaving);
}

void cancel_active(task_state& task, const resumer& before) noexcept {
    task.before = before;
    install_task(task);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::running, task.await_site);
    if (is_recording(gate)) record_cancel(task);
}

// Nothing is fetched ahead: a task that is resumed leaves again, and that asks for the line, which holds two records.
void resume_active(task_state& task) noexcept {
    char* at = nullptr;
    if (!is_short(task) || this_thread.handover_target != nullptr ||
        !find_place(at, long_record_bytes)) [[unlikely]]
        return rarely<resume_any>(task);
    const std::uint64_t mark = this_thread.mark;
    const std::uint64_t id = task.task;
    const std::uint64_t ticks = counter_ticks();
    fill_record(at, ticks, make_tag(record_kind::resume, 0, 0), id, task_of(mark));
    save_resumer(task.before, mark);
    set_flags(task, task_started | task_installed);
    run(task, id, mark);
}

void start_untold(task_state& task) noexcept { start_task(task); }

namespace {

// Does it run, and end by itself, with nothing to be let go?
[[gnu::always_inline]] inline bool ends_plainly(const task_state& task) noexcept {
    return (task.flags & (task_installed | task_exception)) == task_installed &&
           !carries_attributes(task.carried);
}

// Writes the end of a task that may go the short way.
[[gnu::always_inline]] inline bool finish(task_state& task, std::uint64_t& ticks) noexcept {
    char* at = nullptr;
    if (!is_short(task) || !ends_plainly(task) || !find_long_place(at)) [[unlikely]]
        return false;
    ticks = counter_ticks();
    fill_record(at, ticks, make_tag(record_kind::finish, 0, 0), task.task,
                task_of(task.before.mark));
    return true;
}

}  // namespace

void finish_active(task_state& task, departure& leaving) noexcept {
    if (!finish(task, leaving.ticks)) [[unlikely]]
        return rarely<finish_any>(task, leaving);
    copy_resumer(leaving.before, task.before);
    this_thread.frame = nullptr;
}

void end_active(task_state& task) noexcept {
    std::uint64_t ticks = 0;
    if (finish(task, ticks)) [[likely]]
        return go_on_with(task.before.mark, task.before.carried, task.before.frame);
    departure leaving;
    finish_any(task, leaving);
    restore(leaving.before);
}

void transfer_active(task_state& awaiter, task_state& awaited) noexcept {
    if (!may_leave(awaiter) || !transfer(awaiter, awaited, awaiter.await_site)) [[unlikely]]
        rarely<transfer_any>(awaiter, awaited);
}

void transfer_at(task_state& awaiter, task_state& awaited, const void* where) noexcept {
    std::uint32_t site = 0;
    if (!may_leave(awaiter, where, site) || !transfer(awaiter, awaited, site)) [[unlikely]]
        rarely<transfer_any_at>(awaiter, awaited, where);
}

void finish_transfer_active(task_state& finished, task_state& resumed) noexcept {
    char* at = nullptr;
    if (!is_short(finished) || !ends_plainly(finished) || !is_plain_beside(resumed, finished) ||
        !find_long_place(at)) [[unlikely]]
        return rarely<finish_transfer_any>(finished, resumed);
    const std::uint64_t id = resumed.task;
    fill_record(at, counter_ticks(), make_tag(record_kind::finish_transfer, 0, 0), finished.task,
                id);
    copy_resumer(resumed.before, finished.before);
    set_flags(resumed, task_installed);
    run(resumed, id, this_thread.mark);
}

void destroy_active(task_state& task) noexcept {
    know(task);
    if (task.task == 0) task.task = new_task_id();
    if (may_track(load_gate())) [[unlikely]]
        show_end(task);
    record_destroyed(task);
    drop_carried(task.carried);
    // One that is suspended has been left, or will be by whoever destroys it from its await_suspend.
    if (this_thread.frame == &task && (task.flags & task_installed) != 0) restore(task.before);
}

void destroy_task(task_state& task) noexcept {
    set_flags(task, 0, task_spawned);
    if (is_active(task) && !is_unwound(task)) destroy_active(task);
}

void restore(const resumer& before) noexcept {
    go_on_with(before.mark, before.carried, before.frame);
}

void rebind(std::uint64_t carried) noexcept {
    const bool same_session = carried_session(this_thread.carried) == carried_session(carried);
    this_thread.carried = carried;
    if (!same_session) update_gate(this_thread);
    if (contexts_carry_observers()) [[unlikely]]
        look_for_carried_observers();
}

}  // namespace coroscope::detail
