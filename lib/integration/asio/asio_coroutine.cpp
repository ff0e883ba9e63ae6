// SPDX-License-Identifier: Apache-2.0

// The tasks of co_spawn, as the promises of Asio's coroutines report them (asio_awaitable.hpp).

#include "../../runtime/carried/session_return.hpp"
#include "../../runtime/tasks/left_out.hpp"
#include "../../runtime/tasks/task_recording.hpp"
#include "asio_check.hpp"
#include "asio_innermost.hpp"
#include "asio_operations.hpp"
#include "asio_tasks.hpp"

namespace coroscope::asio {

using trace::await_outcome;

namespace {

// The await came back before its suspension was recorded: the task never left.
bool takes_back(tracked_task& resumed, frame& inside) noexcept {
    const suspension& begun = inside.begun;
    if (begun.task != resumed.task || begun.serial != resumed.serial) return false;
    resumed.before = begun.before;
    detail::set_flags(resumed, detail::task_installed, told_suspended);
    inside.whose = {};
    inside.state &= ~std::uint32_t{frame_suspends};
    add_task(inside, false);
    return true;
}

void give_back_thread(tracked_task& left, frame& inside) noexcept {
    detail::set_flags(left, 0, detail::task_installed);
    remove_task(inside);
    detail::restore(left.before);
}

// The task's code ran while nothing needed its context: nothing recorded, and neither it nor its
// thread carried attributes. The attributes of the thread are therefore the task's own.
void install_late(tracked_task& running, frame& inside) noexcept {
    running.before = detail::current_resumer();
    running.before.carried = outside_requests(detail::carried_session(running.before.carried));
    drop_carried(running.carried);
    own_attributes(running.task, this_thread.carried);
    running.carried = retain_carried(this_thread.carried);
    detail::set_flags(running, detail::task_installed);
    detail::go_on_with(mark_here(running.task), running.carried, &running);
    add_task(inside, false);
}

// `awaited`: if an await is started or continued, it awaits the spawned task.
void spawn_in(frame& inside, tracked_task& spawned, bool awaited) noexcept {
    const purpose created = current_await();
    const bool told = created.has_task() && created.is(purpose_initiating | purpose_carrying);
    spawned.awaited = awaited && created.has_task();
    spawned.task = detail::new_task_id();
    spawned.carried = retain_carried(told ? created.carried : this_thread.carried);
    if (load_gate() == 0) return;
    const bool placed = inside.suspends() || created.is(purpose_placed);
    const void* location = placed ? inside.begun.location : nullptr;
    // The suspending coroutine may go on inside the one that it starts: record its suspension now.
    if (inside.suspends()) {
        end_suspension(inside, operation_site("", awaited ? "co_spawn" : "co_await", location));
        if (inside.whose.has_task()) inside.whose.which |= purpose::make(0, purpose_placed);
    }
    // The thread has left the suspended task, so it may record again although the new task is left
    // out.
    const std::uint32_t session = detail::carried_session(
        is_left_out(detail::carried_session(spawned.carried)) ? spawned.carried
                                                              : this_thread.carried);
    const std::uint64_t before = current_task();
    const detail::session_switch own(session);
    const std::uint64_t parent = created.has_task() ? created.task : before;
    const std::uint64_t ticks = now();
    if (location != nullptr && is_library_place(location)) location = nullptr;
    spawned.location = awaited ? location : nullptr;
    write_spawn(spawned.task, spawned.announced, ticks,
                spawn_site("", "co_spawn", spawned.location), 0, parent, spawned.carried);
    if (!spawned.awaited) return;
    show_awaiter(spawned.task, created.task);
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::awaiting, 0, 0), created.task, spawned.task);
}

}  // namespace

void spawn(tracked_task& spawned) noexcept {
    const innermost inside;
    spawn_in(*inside, spawned, true);
}

void spawn_detached(tracked_task& spawned) noexcept {
    const innermost inside;
    spawn_in(*inside, spawned, false);
}

// Before that the task's location is the place of its spawn. One of Asio's coroutines names the
// task until one of the program's is reached.
void name_task(tracked_task& named, const void* where) noexcept {
    if (load_gate() == 0 || named.task == 0) {
        named.origin = where;
        return;
    }
    std::uint32_t site = 0;
    const bool found = find_coroutine_site(where, named.location, site);
    if (found || !is_library_place(where)) named.origin = where;
    if (!found) site = coroutine_site(where, named.location);
    if (may_track(load_gate())) show_named(named.task, site);
    if ((load_gate() & detail::gate_task_table) != 0) name_in_task_table(named.task, site);
    if (char* at = reserve_for(named))
        write_record(at, 0,
                     make_tag(record_kind::spawn, site,
                              trace::spawn_asio | trace::spawn_adopted | trace::spawn_named),
                     named.task, 0);
}

namespace {

// The task's code ran here until now. The task leaves `inside`, and awaits the next operation that
// is created there.
void leave(tracked_task& left, frame& inside, std::uint64_t ticks) noexcept {
    inside.whose = {left.task, left.carried, purpose::make(++left.serial, purpose_initiating)};
    inside.begun = {ticks, left.location, left.before, left.task, nullptr, nullptr, left.serial, 0};
    detail::set_flags(left, told_suspended, detail::task_installed);
    remove_task(inside);
    inside.state |= frame_suspends;
}

// Returns whether the completion of the awaited operation resumed the task.
bool is_woken(const purpose& whose, const tracked_task& resumed) noexcept {
    return whose.which != 0 && whose.task == resumed.task && whose.serial() == resumed.serial;
}

// Returns the outcome of the await that the frame's completion ends, as flags of a resume record.
// Clears the outcome, because it does not apply to other awaits that go on in the frame.
[[gnu::always_inline]] inline std::uint32_t take_outcome(tracked_task& resumed,
                                                         frame& inside) noexcept {
    const std::uint8_t outcome = inside.outcome;
    resumed.outcome = outcome;
    inside.outcome = 0;
    return std::uint32_t{outcome} << trace::outcome_shift;
}

// `flags`: trace::resume_flags in addition to those found here.
void resume_in(tracked_task& resumed, frame& inside, std::uint32_t flags) noexcept {
    const purpose& whose = inside.whose;
    const bool woken = is_woken(whose, resumed);
    // A task that runs inside the call that starts it was never suspended: the wake of the frame's
    // own await is not its wake.
    const bool in_start = woken && whose.is(purpose_initiating);
    const bool known = (woken && !in_start) || whose.is(purpose_back);
    const bool plain = only_records(load_gate()) && resumed.carried == this_thread.carried &&
                       detail::carried_attributes(resumed.carried) == 0;
    if (woken && whose.is(purpose_ready)) flags |= trace::resume_ready;
    resumed.outcome = 0;
    if (known && (flags & trace::resume_overdue) == 0) flags |= take_outcome(resumed, inside);
    enter(resumed, known ? inside.wake : 0, known ? inside.waker : 0, known ? whose.executor() : 0,
          flags);
    inside.whose = {};
    if (!in_start) inside.wake = inside.waker = 0;
    add_task(inside, plain);
}

// The task suspends and was not known to run. g++ takes the results of all awaits of an expression
// after the last of them. In that case the task was resumed some time ago.
void catch_up(tracked_task& running, frame& inside) noexcept {
    if (running.is(told_suspended)) {
        running.mixes_awaits = true;
        resume_in(running, inside, trace::resume_overdue);
    } else {
        install_late(running, inside);
    }
}

[[gnu::noinline]] void suspend_any(tracked_task& suspended) noexcept {
    const bool finished = suspended.is(detail::task_finished);
    const bool runs = suspended.is(detail::task_started) && !finished;
    const innermost inside;
    if (runs && load_gate() != 0) settle(*inside);
    if (suspended.task == 0) suspended.task = detail::new_task_id();
    if (runs && !suspended.is(detail::task_installed)) catch_up(suspended, *inside);
    if (runs) keep_carried(suspended.carried, this_thread.carried);
    inside->before.whose = inside->whose;
    inside->before.suspends = inside->suspends();
    if (inside->before.has_begun()) inside->before.begun = inside->begun;
    inside->state = (inside->state & ~std::uint32_t{frame_begins}) | frame_begins_nested;
    if (finished) {
        inside->whose.which |= purpose::make(0, purpose_back);
    } else if (!runs) {
        inside->whose = {suspended.task, suspended.carried,
                         purpose::make(++suspended.serial, purpose_initiating)};
    } else {
        const bool recording = load_gate() != 0;
        const std::uint64_t ticks = recording ? now() : 0;
        if (recording && !detail::knows(suspended.announced)) reserve_for(suspended);
        leave(suspended, *inside, ticks);
    }
}

// The flags of a suspended task.
constexpr std::uint8_t suspended_flags = untold_flags | told_suspended;

[[gnu::noinline]] void resume_any(tracked_task& resumed) noexcept {
    const innermost inside;
    if (inside->suspends() && takes_back(resumed, *inside)) return;
    if (load_gate() != 0) settle(*inside);
    if (resumed.task == 0) resumed.task = detail::new_task_id();
    resume_in(resumed, *inside, 0);
}

}  // namespace

// The short path is for the only task in a handler's invocation without any other activity.
void suspend(tracked_task& suspended) noexcept {
    frame* const inside = this_thread.invocation;
    if (inside == nullptr || inside->state != (frame_task | frame_plain_task) ||
        inside->whose.which != 0 || this_thread.frame != &suspended || !detail::is_plain(suspended))
        [[unlikely]]
        return suspend_any(suspended);
    inside->state = frame_begins | frame_suspends_plain;
    inside->begun.ticks = detail::counter_ticks();
    inside->begun.location = suspended.location;
    inside->begun.operation = nullptr;
    inside->begun.before.mark = suspended.before.mark;
    inside->begun.before.frame = suspended.before.frame;
    inside->whose.task = suspended.task;
    inside->whose.carried = suspended.carried;
    inside->whose.which = purpose::make(++suspended.serial, purpose_initiating);
    suspended.flags = suspended_flags;
}

namespace {

// Records the resumption in a reserved place and lets the task run. `tag`: the tag of the record.
[[gnu::always_inline]] inline void run_resumed(tracked_task& resumed, frame& inside, char* at,
                                               std::uint64_t ticks, std::uint64_t tag) noexcept {
    const std::uint64_t task = resumed.task;
    const std::uint64_t mark = this_thread.mark;
    fill_record(at, ticks, tag, task, task_of(mark));
    inside.whose.which = 0;
    inside.state = frame_task | frame_plain_task;
    resumed.before.mark = mark;
    resumed.before.carried = resumed.carried;
    resumed.before.frame = this_thread.frame;
    resumed.flags = untold_flags | detail::task_installed;
    this_thread.mark = task << trace::mark_thread_bits | (mark & detail::mark_thread_mask);
    this_thread.frame = &resumed;
}

// Leaves the short path after take_outcome(), and puts the outcome back.
void resume_slowly(tracked_task& resumed, frame& inside) noexcept {
    inside.outcome = resumed.outcome;
    resume_any(resumed);
}

// As above, with a record of the task's wake before it.
[[gnu::noinline]] void resume_woken(tracked_task& resumed, frame& inside,
                                    std::uint64_t tag) noexcept {
    char* at = nullptr;
    if ((inside.wake & (wake_cancelled | wake_returned)) != 0 ||
        !find_place(at, 2 * long_record_bytes)) [[unlikely]]
        return resume_slowly(resumed, inside);
    const std::uint64_t ticks = detail::counter_ticks();
    fill_wake(at, inside.wake, inside.waker, resumed.task, trace::tag_id(tag));
    inside.wake = 0;
    run_resumed(resumed, inside, at + long_record_bytes, ticks, tag);
}

// Returns whether this is the invocation of the operation that the task awaits, or of an awaited
// co_spawn's result. `tag` is the tag of the resumption's record, with resume_ready if the
// operation has purpose_ready.
[[gnu::always_inline]] inline bool
is_resumed_plainly(const frame& inside, const tracked_task& resumed, std::uint64_t& tag) noexcept {
    constexpr std::uint64_t base = make_tag(record_kind::resume, 0, 0);
    constexpr std::uint64_t ready = purpose::make(0, purpose_ready);
    constexpr unsigned id_at = 43;
    static_assert(make_tag(record_kind::resume, 0, trace::resume_ready) == (base | ready));
    static_assert(purpose::executor_at - trace::tag_kind_bits == id_at);
    const std::uint64_t which = inside.whose.which;
    const std::uint64_t left = which ^ purpose::make(resumed.serial, purpose_step);
    tag = base | which >> id_at;
    if (inside.whose.task == resumed.task && (left & ~(ready | purpose::executor_mask)) == 0)
        [[likely]] {
        tag |= left & ready;
        return true;
    }
    return (which & ~purpose::executor_mask) == purpose::make(0, purpose_back);
}

}  // namespace

// The short path is for a suspended or new task, in a frame without any other activity.
void resume(tracked_task& resumed) noexcept {
    frame* const inside = this_thread.invocation;
    std::uint64_t tag = 0;
    if (inside == nullptr || inside->state != frame_idle ||
        !is_resumed_plainly(*inside, resumed, tag) ||
        (resumed.flags | detail::task_started | told_suspended) != suspended_flags ||
        !no_more_than_records(load_gate()) || !detail::knows(resumed.announced) ||
        resumed.carried != this_thread.carried) [[unlikely]]
        return resume_any(resumed);
    const std::uint64_t outcome = take_outcome(resumed, *inside);
    const std::uint64_t all = tag | outcome << trace::tag_value_shift;
    if (inside->wake != 0) return resume_woken(resumed, *inside, all);
    char* at = nullptr;
    if (!find_long_place(at)) [[unlikely]]
        return resume_slowly(resumed, *inside);
    run_resumed(resumed, *inside, at, detail::counter_ticks(), all);
}

// The attributes of the task are kept until its entry point is destroyed, because its result
// carries them.
void finish(tracked_task& finished, bool failed) noexcept {
    detail::return_at_end(finished);
    const innermost inside;
    settle(*inside);
    detail::set_flags(finished, detail::task_finished);
    const std::uint64_t ticks = now();
    const bool ran = finished.is(detail::task_installed);
    if (ran) keep_carried(finished.carried, this_thread.carried);
    inside->whose = {0, finished.carried, purpose::make(0, finished.awaited ? purpose_back : 0U)};
    inside->outcome =
        static_cast<std::uint8_t>(failed ? await_outcome::unknown : await_outcome::value);
    inside->wake = finished.awaited ? ticks : 0;
    inside->waker = finished.awaited ? mark_here(finished.task) : 0;
    if (load_gate() != 0)
        record_finish(finished, ticks, failed ? trace::finish_exception : 0U,
                      task_of(ran ? finished.before.mark : this_thread.mark));
    if (ran) give_back_thread(finished, *inside);
}

namespace {

// The entry point of an ended co_spawn is destroyed. Its result is on its way or has arrived, so
// operations that a thread creates outside handlers from now on do not belong to the result.
void forget_result() noexcept {
    frame* const inside = this_thread.invocation;
    if (inside == nullptr || !inside->is(frame_outermost)) return;
    if (inside->starting == 0 && inside->whose.is(purpose_back)) inside->whose = {};
}

// The task is over, and no result of it is seen here.
void end_task(tracked_task& ended, std::uint32_t flags) noexcept {
    detail::return_at_end(ended);
    const innermost inside;
    settle(*inside);
    detail::set_flags(ended, detail::task_finished);
    const bool ran = ended.is(detail::task_installed);
    if (load_gate() != 0)
        record_finish(ended, now(), flags, task_of(ran ? ended.before.mark : this_thread.mark));
    if (ran) give_back_thread(ended, *inside);
}

}  // namespace

void finish_unseen(tracked_task& finished, bool failed) noexcept {
    protocol_unrecognised();
    if (finished.task != 0) end_task(finished, failed ? trace::finish_exception : 0U);
}

void destroy(tracked_task& gone) noexcept {
    if (gone.is(detail::task_finished))
        forget_result();
    else
        end_task(gone, detail::service_flag() |
                           (gone.is(detail::task_started) ? trace::finish_destroyed
                                                          : trace::finish_cancelled));
    drop_carried(gone.carried);
}

}  // namespace coroscope::asio
