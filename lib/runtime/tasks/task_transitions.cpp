// SPDX-License-Identifier: Apache-2.0

// The transitions of tasks if a session records or a context is carried. In most of them the
// session knows the task, nothing else follows the task, and the thread carries the task's
// attributes. These take a short path. It tests for these conditions and, if one does not hold,
// calls the general function (general_transitions.hpp) before it has changed anything: so nothing
// needs to be kept over a call.

#include <coroscope/detail/task_transitions.hpp>

#include <cstddef>

#include "../carried/attribute_nodes.hpp"
#include "../writer/recent_sites.hpp"
#include "../writer/recorder.hpp"
#include "frames.hpp"
#include "general_transitions.hpp"
#include "live_transitions.hpp"
#include "overdue_resumes.hpp"
#include "task_recording.hpp"
#include "unwinding.hpp"

namespace coroscope::detail {

namespace {

using namespace runtime;

// detail/task_state.hpp does without the trace's header, and repeats the layout of a mark.
static_assert(mark_thread_bits == trace::mark_thread_bits &&
              mark_thread_mask == trace::mark_thread_unknown);

constexpr bool carries_attributes(std::uint64_t carried) noexcept { return carried >> 32 != 0; }

// The thread runs the task of that id from here on, and carries its attributes. `id` and `mark` are
// parameters because the compiler would load them again after the stores to a record.
[[gnu::always_inline]] inline void run(task_state& task, std::uint64_t id,
                                       std::uint64_t mark) noexcept {
    this_thread.mark = id << mark_thread_bits | (mark & mark_thread_mask);
    this_thread.frame = &task;
}

// Calls the general function from cold code, outside of the short path.
template <auto General, class... Arguments>
[[gnu::cold, gnu::noinline]] void rarely(Arguments&&... arguments) noexcept {
    General(arguments...);
}

// Returns whether a transition of the task may take the short path. Room for a record shows that a
// session records.
[[gnu::always_inline]] inline bool is_short(const task_state& task) noexcept {
    return no_more_than_records(load_gate_once()) && knows(task.announced) &&
           task.carried == this_thread.carried;
}

// The same of a task that has just been created, at a place that was seen before, by someone
// without attributes.
[[gnu::always_inline]] inline bool is_short_spawn(const task_state& task,
                                                  std::uint32_t& site) noexcept {
    return no_more_than_records(load_gate_once()) && !carries_attributes(this_thread.carried) &&
           !out_of_task_ids() &&
           recent_sites<site_kind::coroutine>::find(spawn_key(noted_origin(task)), site);
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

void spawn_active(task_state& task) noexcept { spawn<false>(task); }
void spawn_running(task_state& task) noexcept { spawn<true>(task); }

namespace {

// Records a suspension at that site by the short path. Returns false if there is no room for the
// record.
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

// Returns whether a running task may suspend by the short path, at a place that was seen before.
[[gnu::always_inline]] inline bool may_leave(const task_state& task) noexcept {
    return is_short(task) && is_installed(task);
}
[[gnu::always_inline]] inline bool may_leave(const task_state& task, const void* where,
                                             std::uint32_t& site) noexcept {
    return may_leave(task) && recent_sites<site_kind::await>::find(where, site);
}
[[gnu::always_inline]] inline bool may_leave(const task_state& task, coroscope::site& label,
                                             std::uint32_t& site) noexcept {
    return may_leave(task) && find_site_id(label, site);
}

}  // namespace

// A *plain* task: no task and no other attributes were on the thread when it was resumed. Its await
// takes two records of 16 bytes.

constexpr unsigned task_flags_at = 16;
constexpr unsigned plain_suspended = task_spawned | task_known | task_started;
constexpr unsigned plain_running = plain_suspended | task_installed;

// Compares the session that knows the task, its flags and its `spare` in one word.
[[gnu::always_inline]] inline bool is_plainly(const task_state& task, unsigned flags) noexcept {
    std::uint32_t word;
    __builtin_memcpy(&word, &task.announced, sizeof word);
    return word == (static_cast<std::uint16_t>(this_thread.bound_session) | flags << task_flags_at);
}
static_assert(offsetof(task_state, flags) == offsetof(task_state, announced) + 2 &&
              offsetof(task_state, spare) == offsetof(task_state, announced) + 3);

[[gnu::always_inline]] inline bool may_leave_plainly(const task_state& task) noexcept {
    const std::uint64_t carried = this_thread.carried;
    return no_more_than_records(load_gate_once()) && is_plainly(task, plain_running) &&
           task.carried == carried && task.before.carried == carried &&
           task.before.mark <= mark_thread_mask && task.before.frame == nullptr;
}

// As suspend(), of a task for which may_leave_plainly() holds.
[[gnu::always_inline]] inline bool suspend_plainly(task_state& task, std::uint32_t site,
                                                   departure& leaving) noexcept {
    char* at = nullptr;
    if (!find_long_place<trace::record_unit_bytes>(at)) [[unlikely]]
        return false;
    const std::uint64_t ticks = counter_ticks();
    leaving.ticks = ticks;
    task.before.mark = ticks;
    task.flags = plain_suspended;
    task.await_site = site;
    this_thread.frame = nullptr;
    store_word(at, ticks);
    publish_tag(at, trace::make_plain_suspend(site, task.task));
    return true;
}

void suspend_active(task_state& task, departure& leaving) noexcept {
    if (!may_leave(task) || !suspend(task, task.await_site, leaving)) [[unlikely]]
        rarely<suspend_any>(task, leaving);
}

namespace {

[[gnu::noinline]] departure_kind suspend_on_top(task_state& task, const void* where,
                                                departure& leaving) noexcept {
    std::uint32_t site = 0;
    if (!may_leave(task, where, site) || !suspend(task, site, leaving)) [[unlikely]]
        rarely<suspend_any_at>(task, where, leaving);
    return departure_kind::general;
}

}  // namespace

departure_kind suspend_at(task_state& task, const void* where, departure& leaving) noexcept {
    std::uint32_t site = 0;
    if (!may_leave_plainly(task) || !recent_sites<site_kind::await>::find(where, site) ||
        !suspend_plainly(task, site, leaving)) [[unlikely]]
        return suspend_on_top(task, where, leaving);
    return departure_kind::plain;
}

departure_kind suspend_labelled(task_state& task, site& label, departure& leaving) noexcept {
    std::uint32_t site = 0;
    if (may_leave_plainly(task) && find_site_id(label, site) &&
        suspend_plainly(task, site, leaving)) [[likely]]
        return departure_kind::plain;
    if (!may_leave(task, label, site) || !suspend(task, site, leaving)) [[unlikely]]
        rarely<suspend_any_labelled>(task, label, leaving);
    return departure_kind::general;
}

namespace {

// Behind a symmetric transfer on this thread, or not. Nothing is fetched ahead: a task that is
// resumed leaves again, and that asks for the line, which holds two records.
template <bool AfterTransfer>
[[gnu::always_inline]] inline void resume(task_state& task, std::uint64_t outcome) noexcept {
    char* at = nullptr;
    if (!is_short(task) || !find_place(at, long_record_bytes)) [[unlikely]]
        return rarely<resume_any>(task);
    std::uint64_t flags = outcome;
    if constexpr (AfterTransfer) {
        if (is_expected(task, task.before.mark)) [[likely]]
            flags |= trace::resume_handed_over;
        else
            flags |= call_flags(task, task.before.mark);
        this_thread.handover_target = nullptr;
    }
    const std::uint64_t mark = this_thread.mark;
    const std::uint64_t id = task.task;
    const std::uint64_t ticks = counter_ticks();
    fill_record(at, ticks, make_tag(record_kind::resume, 0, flags), id, task_of(mark));
    save_resumer(task.before, mark);
    set_flags(task, task_started | task_installed);
    run(task, id, mark);
}

constexpr std::uint64_t plain_outcome = trace::make_outcome(trace::await_outcome::value);

[[gnu::noinline]] void resume_transferred(task_state& task) noexcept {
    resume<true>(task, plain_outcome);
}
[[gnu::noinline]] void resume_on_top(task_state& task) noexcept {
    resume<false>(task, plain_outcome);
}

}  // namespace

void resume_active(task_state& task) noexcept {
    if (this_thread.handover_target != nullptr) [[unlikely]]
        return resume_transferred(task);
    const std::uint64_t mark = this_thread.mark;
    const std::uint64_t carried = this_thread.carried;
    char* at = nullptr;
    if (!no_more_than_records(load_gate_once()) || !is_plainly(task, plain_suspended) ||
        task.carried != carried || mark > mark_thread_mask || this_thread.frame != nullptr ||
        !find_place(at, trace::record_unit_bytes)) [[unlikely]]
        return resume_on_top(task);
    const std::uint64_t id = task.task;
    const std::uint64_t ticks = counter_ticks();
    store_word(at, ticks);
    publish_tag(at, trace::make_plain_resume(id));
    task.before.mark = mark;
    task.before.carried = carried;
    task.before.frame = nullptr;
    task.flags = plain_running;
    this_thread.mark = id << mark_thread_bits | mark;
    this_thread.frame = &task;
}

void resume_fiber(task_state& task) noexcept {
    this_thread.handover_target != nullptr ? resume<true>(task, 0) : resume<false>(task, 0);
}

// If a resumption is overdue, the exception may belong to another await of the expression.
void await_threw(const task_state& task) noexcept {
    if (!is_recording() || !is_installed(task) || !is_announced(task)) return;
    record_outcome(task.task, may_be_overdue(task) ? trace::await_outcome::unknown
                                                   : trace::await_outcome::exception);
}

void start_untold(task_state& task) noexcept { start_task(task); }

namespace {

// Returns whether the task runs, ends without an exception, and has no attributes to release.
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

void transfer_labelled(task_state& awaiter, task_state& awaited, site& label) noexcept {
    std::uint32_t site = 0;
    if (!may_leave(awaiter, label, site) || !transfer(awaiter, awaited, site)) [[unlikely]]
        rarely<transfer_any_labelled>(awaiter, awaited, label);
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

void restore(const resumer& before) noexcept {
    go_on_with(before.mark, before.carried, before.frame);
}

void restore_and_expect(const departure& leaving, void* next_frame) noexcept {
    expect_handover(next_frame, leaving.ticks);
    go_on_with(leaving.before.mark, leaving.before.carried, leaving.before.frame);
}

}  // namespace coroscope::detail
