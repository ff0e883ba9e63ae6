// SPDX-License-Identifier: Apache-2.0

// The tasks of co_spawn, told by the promises of Asio's coroutines (asio_awaitable.hpp).

#include <atomic>
#include <string_view>

#include "asio_thread.hpp"

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

void suspend(tracked_task& suspended) noexcept {
    const bool finished = suspended.is(detail::task_finished);
    const bool runs = suspended.is(detail::task_started) && !finished;
    if (runs && load_gate() != 0) settle();
    frame& inside = innermost();
    if (suspended.task == 0) suspended.task = detail::new_task_id();
    if (runs && !suspended.is(detail::task_installed)) install_late(suspended);
    if (runs) keep_carried(suspended.carried, this_thread.carried);
    copy_awaiting(here.before, inside.created, here.suspending);
    here.await_begins = true;
    if (finished)
        inside.created.back = true;
    else
        inside.created = {suspended.task, suspended.carried, ++suspended.serial, true, false};
    if (!runs) return;
    detail::set_flags(suspended, 0, detail::task_installed);
    --inside.depth;
    std::uint64_t ticks = 0;
    if (load_gate() != 0) {
        ticks = now();
        if (!knows(suspended.announced)) reserve_for(suspended);
    }
    suspension& begun = here.suspending;
    begun.task = suspended.task;
    begun.ticks = ticks;
    begun.location = suspended.location;
    begun.operation = nullptr;
    begun.before = suspended.before;
    begun.serial = suspended.serial;
}

void resume(tracked_task& resumed) noexcept {
    frame& inside = innermost();
    if (here.suspending.task != 0 && takes_back(resumed, inside)) return;
    if (load_gate() != 0) settle();
    if (resumed.task == 0) resumed.task = detail::new_task_id();
    const purpose& created = inside.created;
    const bool woken =
        created.back || (created.task == resumed.task && created.serial == resumed.serial);
    enter(resumed, woken ? inside.wake : 0, woken ? inside.waker : 0);
    inside.created = {};
    inside.wake = inside.waker = 0;
    ++inside.depth;
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
    innermost().created = {of.task, of.carried, of.serial, false, false};
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

void enter(tracked_task& entered, std::uint64_t wake, std::uint64_t waker) noexcept {
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
                const std::uint64_t thread = waker & detail::mark_thread_mask;
                write_record(at, wake, make_tag(record_kind::wake, 0, thread), entered.task,
                             task_of(waker));
                at += 32;
            }
            write_record(at, ticks, make_tag(record_kind::resume, 0, 0), entered.task,
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

namespace {

// The kinds of operations that were asked for last. One word each: the upper bits of the hash of the
// addresses | two facts | id of the site.
constexpr unsigned fact_bits = 18;
constexpr std::uint64_t ready_bit = 1U << 17;
constexpr std::uint64_t timer_bit = 1U << 16;
constinit std::atomic<std::uint64_t> recent_operations[256];

[[gnu::noinline]] operation_facts look_up(const char* type, const char* operation,
                                          const void* location, std::uint64_t hash,
                                          std::atomic<std::uint64_t>& recent) noexcept {
    site* where = intern_operation(type, operation, location);
    const operation_facts found{where == nullptr ? 0 : site_id(*where), is_executor_work(operation),
                                std::string_view(type) == "deadline_timer"};
    if (found.site < timer_bit)
        recent.store(hash >> fact_bits << fact_bits | (found.ready ? ready_bit : 0) |
                         (found.timer ? timer_bit : 0) | found.site,
                     std::memory_order_relaxed);
    return found;
}

}  // namespace

operation_facts facts_of(const char* type, const char* operation, const void* location) noexcept {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;
    const auto word = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address); };
    std::uint64_t hash = word(operation);
    hash = (hash ^ word(type) * spread) * spread;
    hash = (hash ^ word(location)) * spread;
    std::atomic<std::uint64_t>& recent = recent_operations[hash >> 56];
    const std::uint64_t entry = recent.load(std::memory_order_relaxed);
    if ((entry ^ hash) >> fact_bits != 0 || entry == 0) [[unlikely]]
        return look_up(type, operation, location, hash, recent);
    return {static_cast<std::uint32_t>(entry & (timer_bit - 1)), (entry & ready_bit) != 0,
            (entry & timer_bit) != 0};
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
