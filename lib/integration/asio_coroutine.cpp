// SPDX-License-Identifier: Apache-2.0

// The tasks of co_spawn, told by the promises of Asio's coroutines (asio_awaitable.hpp).

#include <atomic>
#include <string_view>

#include "asio_operations.hpp"

namespace coroscope::asio {

__thread thread_asio here;

namespace {

// The await came back before anybody was told of it: the task never left.
bool takes_back(tracked_task& resumed, frame& inside) noexcept {
    suspension& begun = here.suspending;
    if (begun.task != resumed.task || begun.serial != resumed.serial) return false;
    begun.task = 0;
    resumed.before = begun.before;
    detail::set_flags(resumed, detail::task_installed);
    inside.created = {};
    ++inside.depth;
    return true;
}

void give_back_thread(tracked_task& left) noexcept {
    detail::set_flags(left, 0, detail::task_installed);
    frame& inside = innermost();
    if (inside.depth != 0) --inside.depth;
    detail::restore(left.before);
}

// Its code ran where nothing needed its context: nothing recorded then, and neither it nor its thread
// carried attributes. What is carried now is its own.
void install_late(tracked_task& running) noexcept {
    running.before = detail::current_resumer();
    running.before.carried = detail::carried_session(running.before.carried);
    drop_carried(running.carried);
    running.carried = retain_carried(this_thread.carried);
    detail::set_flags(running, detail::task_installed);
    detail::go_on_with(mark_here(running.task), running.carried, &running);
    ++innermost().depth;
}

}  // namespace

void spawn(tracked_task& spawned) noexcept {
    frame& inside = innermost();
    const purpose created = inside.created;
    spawned.awaited = created.initiating && created.task != 0;
    spawned.task = detail::new_task_id();
    spawned.carried = retain_carried(spawned.awaited ? created.carried : this_thread.carried);
    if (load_gate() == 0) return;
    const std::uint32_t site = operation_site("", "co_spawn", here.suspending.location);
    if (here.suspending.task != 0) end_suspension(site);
    const std::uint64_t parent = spawned.awaited ? created.task : current_task();
    const std::uint64_t ticks = now();
    write_spawn(spawned.task, spawned.announced, ticks, site, 0, parent, spawned.carried);
    if (!spawned.awaited) return;
    show_awaiter(spawned.task, created.task);
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::awaiting, 0, 0), created.task, spawned.task);
}

namespace {

constexpr std::uint8_t suspended_state = detail::task_started;
constexpr std::uint8_t running_state = detail::task_started | detail::task_installed;

// The task's code ran here until now: it leaves `inside`, and an operation that is created there is what it awaits.
[[gnu::always_inline]] inline void leave(tracked_task& left, frame& inside,
                                         std::uint64_t ticks) noexcept {
    inside.created = {left.task, left.carried, ++left.serial, true, false, false};
    --inside.depth;
    detail::set_flags(left, 0, detail::task_installed);
    suspension& begun = here.suspending;
    begun.task = left.task;
    begun.ticks = ticks;
    begun.location = left.location;
    begun.operation = nullptr;
    begun.before.mark = left.before.mark;  // word by word, as they were stored
    begun.before.carried = left.before.carried;
    begun.before.frame = left.before.frame;
    begun.serial = left.serial;
}

[[gnu::noinline]] void suspend_any(tracked_task& suspended) noexcept {
    const bool finished = suspended.is(detail::task_finished);
    const bool runs = suspended.is(detail::task_started) && !finished;
    if (runs && load_gate() != 0) settle();
    frame& inside = innermost();
    if (suspended.task == 0) suspended.task = detail::new_task_id();
    if (runs && !suspended.is(detail::task_installed)) install_late(suspended);
    if (runs) keep_carried(suspended.carried, this_thread.carried);
    copy_awaiting(here.before, inside.created, here.suspending);
    here.await_begins = await_start::nested;
    if (finished) {
        inside.created.back = true;
    } else if (!runs) {
        inside.created = {suspended.task, suspended.carried, ++suspended.serial, true, false,
                          false};
    } else {
        const bool recording = load_gate() != 0;
        const std::uint64_t ticks = recording ? now() : 0;
        if (recording && !detail::knows(suspended.announced)) reserve_for(suspended);
        leave(suspended, inside, ticks);
    }
}

// Resumed by whoever completed what it awaits?
bool is_woken(const purpose& created, const tracked_task& resumed) noexcept {
    return created.task == resumed.task && created.serial == resumed.serial;
}

[[gnu::noinline]] void resume_any(tracked_task& resumed) noexcept {
    frame& inside = innermost();
    if (here.suspending.task != 0 && takes_back(resumed, inside)) return;
    if (load_gate() != 0) settle();
    if (resumed.task == 0) resumed.task = detail::new_task_id();
    const purpose& created = inside.created;
    const bool woken = is_woken(created, resumed);
    const bool known = woken || created.back;
    enter(resumed, known ? inside.wake : 0, known ? inside.waker : 0,
          woken && created.ready ? trace::resume_ready : 0U);
    inside.created = {};
    inside.wake = inside.waker = 0;
    ++inside.depth;
}

}  // namespace

void suspend(tracked_task& suspended) noexcept {
    frame* const inside = here.inner;
    if (inside == nullptr || inside->created.task != 0 || inside->created.back ||
        !is_plain(suspended, running_state)) [[unlikely]]
        return suspend_any(suspended);
    here.await_begins = await_start::plain;
    leave(suspended, *inside, detail::counter_ticks());
}

void resume(tracked_task& resumed) noexcept {
    frame* const inside = here.inner;
    char* at = nullptr;
    if (inside == nullptr || !is_plain(resumed, suspended_state) ||
        !is_woken(inside->created, resumed) ||
        !find_place(at, inside->wake != 0 ? 2 * long_record_bytes : long_record_bytes)) [[unlikely]]
        return resume_any(resumed);
    const std::uint64_t ticks = detail::counter_ticks();
    if (inside->wake != 0) {
        fill_wake(at, inside->wake, inside->waker, resumed.task);
        inside->wake = 0;
        at += long_record_bytes;
    }
    const std::uint32_t flags = inside->created.ready ? trace::resume_ready : 0U;
    fill_record(at, ticks, make_tag(record_kind::resume, 0, flags), resumed.task,
                task_of(this_thread.mark));
    inside->created = {};
    ++inside->depth;
    resumed.before = detail::current_resumer();
    detail::set_flags(resumed, detail::task_installed);
    detail::run_on(resumed.task << trace::mark_thread_bits, &resumed);
}

void finish(tracked_task& finished, bool failed) noexcept {
    settle();
    frame& inside = innermost();
    detail::set_flags(finished, detail::task_finished);
    const std::uint64_t ticks = now();
    inside.created = {};
    inside.created.back = finished.awaited;
    inside.wake = finished.awaited ? ticks : 0;
    inside.waker = finished.awaited ? mark_here(finished.task) : 0;
    const bool ran = finished.is(detail::task_installed);
    if (load_gate() != 0)
        record_finish(finished, ticks, failed ? trace::finish_exception : 0U,
                      task_of(ran ? finished.before.mark : this_thread.mark));
    if (ran) give_back_thread(finished);
    drop_carried(finished.carried);
}

void destroy(tracked_task& gone) noexcept {
    if (gone.is(detail::task_finished)) return;
    settle();
    detail::set_flags(gone, detail::task_finished);
    const bool ran = gone.is(detail::task_installed);
    if (load_gate() != 0)
        record_finish(gone, now(),
                      gone.is(detail::task_started) ? trace::finish_destroyed
                                                    : trace::finish_cancelled,
                      task_of(ran ? gone.before.mark : this_thread.mark));
    if (ran) give_back_thread(gone);
    drop_carried(gone.carried);
}

purpose current_await() noexcept {
    const frame& inside = innermost();
    const bool awaits = inside.created.initiating || inside.depth == 0;
    return awaits && (here.inner != nullptr || here.starting != 0) ? inside.created : purpose{};
}

await_step::await_step(const purpose& of) noexcept : before_(innermost().created) {
    innermost().created = {of.task, of.carried, of.serial, false, false, false};
    ++here.starting;
}

await_step::~await_step() {
    --here.starting;
    innermost().created = before_;
}

void settle_suspension() noexcept {
    const suspension& ended = here.suspending;
    if (load_gate() == 0) return end_suspension(0);
    end_suspension(ended.operation == nullptr
                       ? operation_site("", "co_await", ended.location)
                       : operation_site(ended.type, ended.operation, ended.location));
}

void end_suspension(std::uint32_t site) noexcept {
    suspension& ended = here.suspending;
    const std::uint64_t task = ended.task;
    ended.task = 0;
    const std::int32_t gate = load_gate();
    if (gate != 0 && ended.ticks != 0)
        if (char* at = reserve())
            write_record(at, ended.ticks, make_tag(record_kind::suspend, site, 0), task,
                         task_of(ended.before.mark));
    if (may_track(gate)) show_suspended(task, site);
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
    }
    detail::set_flags(entered, detail::task_started | detail::task_installed);
    detail::install(mark_here(entered.task), entered.carried, &entered);
}

void record_finish(tracked_task& ended, std::uint64_t ticks, std::uint32_t flags,
                   std::uint64_t next) noexcept {
    if (may_track(load_gate())) show_end(ended);
    if ((load_gate() & detail::gate_task_table) != 0) drop_from_task_table(ended.task);
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

constinit std::atomic<std::uint64_t> recent_operations::slots[256];

namespace {

[[gnu::noinline]] operation_facts look_up(const char* type, const char* operation,
                                          const void* location) noexcept {
    site* where = intern_operation(type, operation, location);
    const operation_facts found{where == nullptr ? 0 : site_id(*where), is_executor_work(operation),
                                std::string_view(type) == "deadline_timer"};
    recent_operations::keep(type, operation, location, found);
    return found;
}

}  // namespace

operation_facts facts_of(const char* type, const char* operation, const void* location) noexcept {
    operation_facts found;
    if (recent_operations::find(type, operation, location, found)) [[likely]]
        return found;
    return look_up(type, operation, location);
}

}  // namespace coroscope::asio

namespace coroscope::detail {

void swap_stack_place(stack_place& place) noexcept {
    asio::settle();
    void* const before = asio::here.inner;
    asio::here.inner = static_cast<asio::frame*>(place.words[0]);
    place.words[0] = before;
}

}  // namespace coroscope::detail
