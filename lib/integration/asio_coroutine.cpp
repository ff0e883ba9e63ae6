// SPDX-License-Identifier: Apache-2.0

// The tasks of co_spawn, told by the promises of Asio's coroutines (asio_awaitable.hpp).

#include "asio_operations.hpp"

namespace coroscope::asio {

void spell_out(frame& inside) noexcept {
    inside.begun.before.carried = inside.whose.carried;
    inside.begun.task = inside.whose.task;
    inside.begun.serial = inside.whose.serial();
    inside.state ^= frame_suspends_plain | frame_suspends;
}

namespace {

// The await came back before anybody was told of it: the task never left.
bool takes_back(tracked_task& resumed, frame& inside) noexcept {
    const suspension& begun = inside.begun;
    if (begun.task != resumed.task || begun.serial != resumed.serial) return false;
    resumed.before = begun.before;
    detail::set_flags(resumed, detail::task_installed);
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

// Its code ran where nothing needed its context: nothing recorded then, and neither it nor its thread
// carried attributes. What is carried now is its own.
void install_late(tracked_task& running, frame& inside) noexcept {
    running.before = detail::current_resumer();
    running.before.carried = detail::carried_session(running.before.carried);
    drop_carried(running.carried);
    own_attributes(running.task, this_thread.carried);
    running.carried = retain_carried(this_thread.carried);
    detail::set_flags(running, detail::task_installed);
    detail::go_on_with(mark_here(running.task), running.carried, &running);
    add_task(inside, false);
}

}  // namespace

namespace {

// `awaited`: where an await is started or carried on, it awaits this.
void spawn_in(frame& inside, tracked_task& spawned, bool awaited) noexcept {
    const purpose created = current_await();
    const bool told = created.has_task() && created.is(purpose_initiating | purpose_carrying);
    spawned.awaited = awaited && created.has_task();
    spawned.task = detail::new_task_id();
    spawned.carried = retain_carried(told ? created.carried : this_thread.carried);
    if (load_gate() == 0) return;
    const void* const location = inside.suspends() ? inside.begun.location : nullptr;
    // The coroutine that suspends may go on in the one that it starts: its suspension cannot wait for a better name.
    if (inside.suspends())
        end_suspension(inside, operation_site("", awaited ? "co_spawn" : "co_await", location));
    const std::uint64_t parent = created.has_task() ? created.task : current_task();
    const std::uint64_t ticks = now();
    write_spawn(spawned.task, spawned.announced, ticks,
                operation_site("", "co_spawn", awaited ? location : nullptr), 0, parent,
                spawned.carried);
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

namespace {

// The task's code ran here until now: it leaves `inside`, and an operation that is created there is what it awaits.
void leave(tracked_task& left, frame& inside, std::uint64_t ticks) noexcept {
    inside.whose = {left.task, left.carried, purpose::make(++left.serial, purpose_initiating)};
    inside.begun = {ticks, left.location, left.before, left.task, nullptr, nullptr, left.serial};
    detail::set_flags(left, 0, detail::task_installed);
    remove_task(inside);
    inside.state |= frame_suspends;
}

[[gnu::noinline]] void suspend_any(tracked_task& suspended) noexcept {
    const bool finished = suspended.is(detail::task_finished);
    const bool runs = suspended.is(detail::task_started) && !finished;
    const innermost inside;
    if (runs && load_gate() != 0) settle(*inside);
    if (suspended.task == 0) suspended.task = detail::new_task_id();
    if (runs && !suspended.is(detail::task_installed)) install_late(suspended, *inside);
    if (runs) keep_carried(suspended.carried, this_thread.carried);
    inside->before.whose = inside->whose;
    inside->before.suspends = inside->suspends();
    if (inside->before.suspends) inside->before.begun = inside->begun;
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

// Of a task that is suspended; while it runs, task_installed beside them.
constexpr std::uint8_t suspended_flags =
    detail::task_any_frame | detail::task_known | detail::task_started;

// Resumed by whoever completed what it awaits?
bool is_woken(const purpose& whose, const tracked_task& resumed) noexcept {
    return whose.which != 0 && whose.task == resumed.task && whose.serial() == resumed.serial;
}

[[gnu::noinline]] void resume_any(tracked_task& resumed) noexcept {
    const innermost inside;
    if (inside->suspends() && takes_back(resumed, *inside)) return;
    if (load_gate() != 0) settle(*inside);
    if (resumed.task == 0) resumed.task = detail::new_task_id();
    const purpose& whose = inside->whose;
    const bool woken = is_woken(whose, resumed);
    // What runs inside the call that starts it was never away: what has woken the frame's own await is not its wake.
    const bool in_start = woken && whose.is(purpose_initiating);
    const bool known = (woken && !in_start) || whose.is(purpose_back);
    const bool plain = only_records(load_gate()) && resumed.carried == this_thread.carried &&
                       detail::carried_attributes(resumed.carried) == 0;
    enter(resumed, known ? inside->wake : 0, known ? inside->waker : 0,
          woken && whose.is(purpose_ready) ? trace::resume_ready : 0U);
    inside->whose = {};
    if (!in_start) inside->wake = inside->waker = 0;
    add_task(*inside, plain);
}

}  // namespace

// Does the task run, as the only one in a handler's invocation that is in the middle of nothing else?
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

// Records the resumption in a place that was taken for it, and lets the task run. `tag`: what its record says.
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
    resumed.flags = suspended_flags | detail::task_installed;
    this_thread.mark = task << trace::mark_thread_bits | (mark & detail::mark_thread_mask);
    this_thread.frame = &resumed;
}

// The same with a record of its wake before it.
[[gnu::noinline]] void resume_woken(tracked_task& resumed, frame& inside,
                                    std::uint64_t tag) noexcept {
    char* at = nullptr;
    if (!find_place(at, 2 * long_record_bytes)) [[unlikely]]
        return resume_any(resumed);
    const std::uint64_t ticks = detail::counter_ticks();
    fill_wake(at, inside.wake, inside.waker, resumed.task);
    inside.wake = 0;
    run_resumed(resumed, inside, at + long_record_bytes, ticks, tag);
}

// In the invocation of the operation that the task awaits, or of the result of another that it awaited? Then `ready`
// is purpose_ready where the operation says so.
[[gnu::always_inline]] inline bool is_resumed_plainly(const frame& inside,
                                                      const tracked_task& resumed,
                                                      std::uint64_t& ready) noexcept {
    constexpr std::uint64_t either = purpose::make(0, purpose_ready);
    ready = inside.whose.which ^ purpose::make(resumed.serial, purpose_step);
    if (inside.whose.task == resumed.task && (ready & ~either) == 0) [[likely]]
        return true;
    ready = 0;
    return inside.whose.which == purpose::make(0, purpose_back);
}

}  // namespace

// The task is suspended, or has not run yet, and nothing else is in the middle of anything here.
void resume(tracked_task& resumed) noexcept {
    constexpr std::uint64_t tag = make_tag(record_kind::resume, 0, 0);
    static_assert(make_tag(record_kind::resume, 0, trace::resume_ready) ==
                  (tag | purpose::make(0, purpose_ready)));
    frame* const inside = this_thread.invocation;
    std::uint64_t ready = 0;
    if (inside == nullptr || inside->state != frame_idle ||
        !is_resumed_plainly(*inside, resumed, ready) ||
        (resumed.flags | detail::task_started) != suspended_flags ||
        !no_more_than_records(load_gate()) || !detail::knows(resumed.announced) ||
        resumed.carried != this_thread.carried) [[unlikely]]
        return resume_any(resumed);
    if (inside->wake != 0) return resume_woken(resumed, *inside, tag | ready);
    char* at = nullptr;
    if (!find_long_place(at)) [[unlikely]]
        return resume_any(resumed);
    run_resumed(resumed, *inside, at, detail::counter_ticks(), tag | ready);
}

// What it carries is kept until its entry point goes: its result does on its way.
void finish(tracked_task& finished, bool failed) noexcept {
    const innermost inside;
    settle(*inside);
    detail::set_flags(finished, detail::task_finished);
    const std::uint64_t ticks = now();
    const bool ran = finished.is(detail::task_installed);
    if (ran) keep_carried(finished.carried, this_thread.carried);
    inside->whose = {0, finished.carried, purpose::make(0, finished.awaited ? purpose_back : 0U)};
    inside->wake = finished.awaited ? ticks : 0;
    inside->waker = finished.awaited ? mark_here(finished.task) : 0;
    if (load_gate() != 0)
        record_finish(finished, ticks, failed ? trace::finish_exception : 0U,
                      task_of(ran ? finished.before.mark : this_thread.mark));
    if (ran) give_back_thread(finished, *inside);
}

namespace {

// The entry point of an ended co_spawn goes: its result is on its way or has arrived, and what a thread that runs no
// handler creates from here on is not the result's.
void forget_result() noexcept {
    frame* const inside = this_thread.invocation;
    if (inside == nullptr || !inside->is(frame_outermost)) return;
    if (inside->starting == 0 && inside->whose.is(purpose_back)) inside->whose = {};
}

}  // namespace

void destroy(tracked_task& gone) noexcept {
    if (gone.is(detail::task_finished)) {
        forget_result();
        return drop_carried(gone.carried);
    }
    const innermost inside;
    settle(*inside);
    detail::set_flags(gone, detail::task_finished);
    const bool ran = gone.is(detail::task_installed);
    if (load_gate() != 0)
        record_finish(gone, now(),
                      gone.is(detail::task_started) ? trace::finish_destroyed
                                                    : trace::finish_cancelled,
                      task_of(ran ? gone.before.mark : this_thread.mark));
    if (ran) give_back_thread(gone, *inside);
    drop_carried(gone.carried);
}

void settle_suspension(frame& inside) noexcept {
    if (inside.is(frame_suspends_plain)) spell_out(inside);
    const suspension& ended = inside.begun;
    if (load_gate() == 0) return end_suspension(inside, 0);
    end_suspension(inside, ended.operation == nullptr
                               ? operation_site("", "co_await", ended.location)
                               : operation_site(ended.type, ended.operation, ended.location));
}

void end_suspension(frame& inside, std::uint32_t site) noexcept {
    inside.state &= ~std::uint32_t{frame_suspends};
    const suspension& ended = inside.begun;
    const std::int32_t gate = load_gate();
    if (gate != 0 && ended.ticks != 0)
        if (char* at = reserve())
            write_record(at, ended.ticks, make_tag(record_kind::suspend, site, 0), ended.task,
                         task_of(ended.before.mark));
    if (gate != 0) repeat_carried(task_of(ended.before.mark), ended.before.carried);
    if (may_track(gate)) show_suspended(ended.task, site);
    detail::restore(ended.before);
}

void enter(tracked_task& entered, std::uint64_t wake, std::uint64_t waker,
           std::uint32_t flags) noexcept {
    entered.before = detail::current_resumer();
    // The task's session comes first and the task itself last: a chunk that the record opens names
    // what ran before.
    if (this_thread.carried != entered.carried) detail::rebind(entered.carried);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) show_running(entered.task);
    if (gate != 0) {
        const context_change under_way;
        const std::uint64_t ticks = now();
        if (char* at = reserve_for(entered)) {
            if (wake != 0) {
                at = take_reserved(at, long_record_bytes);
                fill_wake(at, wake, waker, entered.task);
                at += long_record_bytes;
            }
            write_record(at, ticks, make_tag(record_kind::resume, 0, flags), entered.task,
                         task_of(entered.before.mark));
        }
        repeat_carried(entered.task, entered.carried);
    }
    detail::set_flags(entered, detail::task_started | detail::task_installed);
    detail::install(mark_here(entered.task), entered.carried, &entered);
}

void record_finish(tracked_task& ended, std::uint64_t ticks, std::uint32_t flags,
                   std::uint64_t next) noexcept {
    if (may_track(load_gate())) show_end(ended);
    if ((load_gate() & detail::gate_task_table) != 0)
        drop_from_task_table(ended.task, ended.carried);
    if (char* at = reserve_for(ended))
        write_record(at, ticks, make_tag(record_kind::finish, 0, flags), ended.task, next);
}

void write_spawn(std::uint64_t task, std::uint16_t& announced, std::uint64_t ticks,
                 std::uint32_t site, std::uint32_t flags, std::uint64_t parent,
                 std::uint64_t carried) noexcept {
    if ((flags & trace::spawn_adopted) == 0 && may_track(load_gate()))
        show_spawned(task, parent, site);
    char* at = reserve();
    if (at == nullptr) return;
    announced = static_cast<std::uint16_t>(this_thread.bound_session);
    write_record(at, ticks, make_tag(record_kind::spawn, site, flags | trace::spawn_asio), task,
                 parent);
    record_carried(task, carried);
    if ((load_gate() & detail::gate_task_table) != 0)
        keep_in_task_table({task, ticks, parent, site, flags | trace::spawn_asio});
}

}  // namespace coroscope::asio
