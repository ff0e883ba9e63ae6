// SPDX-License-Identifier: Apache-2.0

// Asio's operations, told by its handler tracking:
//
//   LOCATION                 what a coroutine awaits is being started
//   CREATION                 an operation: of the await that is being started or carried on, or a new one,
//                            whose handler is a task
//   COMPLETION, BEGIN, END   its handler runs; without BEGIN it was destroyed
//   REACTOR_OPERATION        the reactor has done it: its wake

#include <new>

#include <coroscope/integration/asio.hpp>

#include "asio_operations.hpp"

namespace coroscope::asio {

namespace {

// A step of what a coroutine awaits. The first one, created as it suspends, may be its turn on an executor; a later
// one that is ready at once is so from here on.
void create_step(operation_state& created, const purpose& of, std::uint32_t kind, bool is_ready,
                 bool suspends) noexcept {
    const bool later = is_ready && !suspends;
    created.whose.task = of.task;
    created.whose.carried = kind == purpose_carrying ? retain_carried(of.carried) : 0;
    created.whose.which =
        purpose::make(of.serial(), kind | (is_ready && suspends ? purpose_ready : 0U));
    created.wake = later ? now() : 0;
    created.waker = later ? mark_here(of.is(purpose_initiating) ? of.task : 0) : 0;
}

bool has_attributes(const purpose& of) noexcept {
    return detail::carried_attributes(of.carried) != 0;
}

// The purpose of what hands over a co_spawn's result, and of its invocation: of an awaited one it wakes the awaiter.
constexpr std::uint64_t way_back(std::uint64_t waker) noexcept {
    return purpose::make(0, waker != 0 ? purpose_back : purpose_step);
}

// The result of a co_spawn on its way to its awaiter, if it has one.
void create_way_back(operation_state& created, const frame& inside) noexcept {
    created = {{0, 0, way_back(inside.waker)}, inside.wake, inside.waker};
}

// The same with what the co_spawn's task carried: then it is carrying, of no task. Where a composed operation goes on after
// its co_spawn, with anything else than work for an executor, the awaiter is not ready.
void create_any_way_back(operation_state& created, const frame& inside,
                         operation_kind kind) noexcept {
    create_way_back(created, inside);
    if (kind != operation_kind::work) created.wake = 0;
    created.whose.carried = retain_carried(inside.whose.carried);
    if (has_attributes(created.whose)) created.whose.which = purpose::make(0, purpose_carrying);
}

void make_handler(operation_state& created) noexcept {
    created = {{detail::new_task_id(), retain_carried(this_thread.carried),
                purpose::make(0, purpose_handler)},
               0,
               0};
}

void create_handler(operation_state& created, const char* type, const char* operation,
                    bool is_ready) noexcept {
    make_handler(created);
    if (load_gate() == 0) return;
    std::uint16_t announced = 0;
    write_spawn(created.whose.task, announced, now(), operation_site(type, operation, nullptr),
                is_ready ? trace::spawn_ready : 0U, current_task(), created.whose.carried);
    created.whose.which |= announced;
}

// Outside of handlers an await is started inside its location; one whose end was missed, because a session stopped
// meanwhile, is over. A co_spawn that ended there leaves its result to the next operation.
void forget_missed(frame& outermost) noexcept {
    if (!outermost.whose.is(purpose_back)) outermost.whose = {};
}

[[gnu::noinline]] void create_any(operation_state& created, const char* type, const char* operation,
                                  operation_kind kind) noexcept {
    const innermost inside;
    const bool stands_alone = inside->is(frame_outermost) && inside->starting == 0;
    if (stands_alone) forget_missed(*inside);
    inside->state &= ~(frame_begins | frame_begins_nested);
    const bool recording = load_gate() != 0;
    if (recording && !scheduler_seen.load(std::memory_order_relaxed)) scheduler_missing();
    suspension& begun = inside->begun;
    const bool is_ready = recording && kind == operation_kind::work;
    bool suspends = false;
    if (inside->suspends() && recording) {
        suspends = begun.ticks != 0 && begun.task == inside->whose.task;
        begun.type = type;
        begun.operation = operation;
        // A timeout's timer is created before the operation that it guards, which names the await.
        if (kind != operation_kind::timer)
            end_suspension(*inside, operation_site(type, operation, begun.location));
    }
    if (inside->whose.is(purpose_initiating) || !inside->runs_task()) {
        if (inside->whose.has_task())
            return create_step(created, inside->whose,
                               has_attributes(inside->whose) ? purpose_carrying : purpose_step,
                               is_ready, suspends);
        if (inside->whose.is(purpose_back)) {
            create_any_way_back(created, *inside, kind);
            if (stands_alone) inside->whose = {};
            return;
        }
    }
    create_handler(created, type, operation, is_ready);
}

[[gnu::noinline]] void note_careful_wake(operation_state& created) noexcept {
    created.wake = now();
}

// A later step of an await without attributes. `waker`: the task that readies it, if it is ready.
[[gnu::always_inline]] inline void create_plain_step(operation_state& created, const purpose& of,
                                                     operation_kind kind,
                                                     std::uint64_t waker) noexcept {
    created.whose.task = of.task;
    created.whose.carried = 0;
    created.whose.which = purpose::make(of.serial(), purpose_step);
    created.wake = 0;
    if (kind != operation_kind::work) return;
    const std::int32_t gate = load_gate_once();
    if (gate == 0) return;
    created.waker = mark_here(waker);
    if (gate < 0) [[unlikely]]
        return note_careful_wake(created);
    created.wake = detail::counter_ticks();
}

// In a handler that runs no task nothing suspends. False where what is created there is none of the usual.
[[gnu::always_inline]] inline bool create_while_idle(operation_state& created, const frame& inside,
                                                     operation_kind kind) noexcept {
    const purpose& of = inside.whose;
    if (of.is(purpose_step) && of.task != 0) [[likely]] {
        create_plain_step(created, of, kind, 0);
    } else if (of.is(purpose_back) && of.task == 0) {
        if (kind != operation_kind::work || has_attributes(of)) [[unlikely]]
            return false;
        create_way_back(created, inside);
    } else if (of.is(purpose_initiating) && of.task != 0 && !has_attributes(of)) {
        create_plain_step(created, of, kind, of.task);
    } else {
        return false;
    }
    return true;
}

// Is the coroutine that suspends here one that has done so the short way, and what it awaits not named yet?
bool awaits_plainly(const frame& inside) noexcept {
    return (inside.state & ~std::uint32_t{frame_begins}) == frame_suspends_plain &&
           no_more_than_records(load_gate()) && inside.whose.carried == this_thread.carried;
}

// Of a coroutine that suspends the short way, the first step.
[[gnu::always_inline]] inline void create_first_step(operation_state& created, const frame& inside,
                                                     bool ready) noexcept {
    constexpr std::uint64_t changed = purpose::make(0, purpose_initiating | purpose_step);
    created.whose.task = inside.whose.task;
    created.whose.carried = 0;
    created.whose.which =
        (inside.whose.which ^ changed) | std::uint64_t{ready} * purpose::make(0, purpose_ready);
    created.wake = 0;
}

// A timeout's timer is created before the operation that it guards, which names the await.
bool note_timer(frame& inside, const char* type, const char* operation) noexcept {
    if (!scheduler_seen.load(std::memory_order_relaxed)) return false;
    inside.state = frame_suspends_plain;
    inside.begun.type = type;
    inside.begun.operation = operation;
    return true;
}

// The operation names the await: the suspension's record is written.
[[gnu::always_inline]] inline bool name_await(frame& inside, const char* type,
                                              const char* operation) noexcept {
    std::uint32_t site = 0;
    char* at = nullptr;
    if (!recent_operations::find(type, operation, inside.begun.location, site) ||
        !find_long_place(at)) [[unlikely]]
        return false;
    const std::uint64_t mark = inside.begun.before.mark;
    detail::task_state* const before = inside.begun.before.frame;
    fill_record(at, inside.begun.ticks, make_tag(record_kind::suspend, site, 0), inside.whose.task,
                task_of(mark));
    inside.state = frame_idle;
    this_thread.mark = mark;
    this_thread.frame = before;
    return true;
}

// The short way of what is created while a coroutine suspends in it; false where that takes more.
[[gnu::always_inline]] inline bool create_while_suspending(operation_state& created, frame& inside,
                                                           const char* type, const char* operation,
                                                           operation_kind kind) noexcept {
    if (!awaits_plainly(inside)) return false;
    create_first_step(created, inside, kind == operation_kind::work);
    return kind == operation_kind::timer ? note_timer(inside, type, operation)
                                         : name_await(inside, type, operation);
}

}  // namespace

void create_operation(operation_state& created, const char* type, const char* operation,
                      operation_kind kind) noexcept {
    frame* const inside = this_thread.invocation;
    if (inside == nullptr) [[unlikely]]
        return create_any(created, type, operation, kind);
    const bool done = inside->state == frame_idle
                          ? create_while_idle(created, *inside, kind)
                          : create_while_suspending(created, *inside, type, operation, kind);
    if (!done) [[unlikely]]
        create_any(created, type, operation, kind);
}

void reactor_operation(operation_state& performed) noexcept {
    if (load_gate() == 0) return;
    performed.wake = now();
    performed.waker = mark_here(0);
}

void location::enter() noexcept {
    frame& inside = *this_thread.invocation;
    entered_ = inside.is(frame_begins_nested) ? await_start::nested : await_start::plain;
    inside.state &= ~(frame_begins | frame_begins_nested);
    if (entered_ == await_start::plain) return;
    ++inside.starting;
    copy_awaiting(before_, inside.before);
}

void location::leave() noexcept {
    const innermost inside;
    if (entered_ == await_start::plain) before_ = {};
    const bool same = before_.suspends && inside->begun.task == before_.begun.task;
    if (!same) settle(*inside);
    if (before_.suspends) [[unlikely]] {
        inside->begun = before_.begun;
        inside->state |= frame_suspends;
    }
    if (entered_ == await_start::nested) --inside->starting;
    inside->whose = before_.whose;
}

void completion::take(const operation_state& operation) noexcept {
    settle();
    stage_ = stage::taken;
    new (&frame_) frame;
    handles_ = !operation.whose.is(purpose_carrying);
    if (!handles_) {
        take_plain(operation);
        stage_ = stage::taken;
        carried_ = frame_.whose.carried = operation.whose.carried;
        if (operation.whose.task == 0) frame_.whose.which = way_back(operation.waker);
        return;
    }
    new (&handler_) tracked_task;
    frame_.whose = {};
    carried_ = 0;
    if (operation.whose.is(purpose_handler)) {
        handler_.task = operation.whose.task;
        handler_.announced = static_cast<std::uint16_t>(operation.whose.which);
        handler_.carried = operation.whose.carried;
        frame_.wake = operation.wake;
        frame_.waker = operation.waker;
        return;
    }
    // Older than the session: whatever it is, a task runs from here on.
    frame_.wake = frame_.waker = 0;
    handler_.task = detail::new_task_id();
    handler_.carried = retain_carried(this_thread.carried);
    if (load_gate() != 0)
        write_spawn(handler_.task, handler_.announced, 0, 0, trace::spawn_adopted, 0,
                    handler_.carried);
}

namespace {

bool carries_others(std::uint64_t carried) noexcept {
    return detail::carried_attributes(this_thread.carried) != detail::carried_attributes(carried);
}

void tell_carried(std::uint64_t carried, std::uint32_t flags) noexcept {
    if (!detail::is_recording()) return;
    const context_change under_way;
    detail::record_context({this_thread.mark, carried, nullptr}, current_task(), flags);
}

// What runs between the two carries the attributes of an await, and is no part of its task: the session that records it
// is told as of a context that is installed by hand.
void begin_carrying(std::uint64_t carried) noexcept {
    const bool changes = carries_others(carried);
    detail::rebind(carried);
    if (changes) tell_carried(carried, 0);
}
void end_carrying(std::uint64_t before) noexcept {
    const bool changes = carries_others(before);
    if (changes) tell_carried(before, trace::context_restored);
    detail::rebind(before);
    if (changes) repeat_carried(current_task(), before);
}

}  // namespace

void completion::begin() noexcept {
    settle();
    frame* const outer = this_thread.invocation;
    frame_.outer = outer == nullptr || outer->is(frame_outermost) ? nullptr : outer;
    this_thread.invocation = &frame_;
    if (stage_ == stage::plain) {
        stage_ = stage::plain_began;
        return;
    }
    stage_ = stage::began;
    if (handles_) {
        const std::uint64_t wake = frame_.wake;
        frame_.wake = 0;
        enter(handler_, wake, frame_.waker);
        frame_.waker = 0;
        frame_.state += frame_task;
    } else {
        carried_before_ = this_thread.carried;
        begin_carrying(carried_);
    }
}

void completion::end() noexcept { end_any(false); }

void completion::end_any(bool failed) noexcept {
    settle();
    this_thread.invocation = frame_.outer;
    const bool plain = stage_ == stage::plain_began;
    stage_ = stage::absent;
    if (plain) return;
    if (!handles_) {
        end_carrying(carried_before_);
        drop_carried(carried_);
        return;
    }
    if (failed && load_gate() != 0) detail::unseen_exception_leaves(handler_.task);
    if (load_gate() != 0)
        record_finish(handler_, now(), failed ? trace::finish_exception : 0U,
                      task_of(handler_.before.mark));
    detail::restore(handler_.before);
    drop_carried(handler_.carried);
}

void completion::drop() noexcept {
    const stage before = stage_;
    if (before == stage::plain_began || before == stage::began) return end_any(true);
    stage_ = stage::absent;
    if (before == stage::plain) return;
    if (handles_ && load_gate() != 0)
        record_finish(handler_, now(), trace::finish_cancelled, current_task());
    drop_carried(handles_ ? handler_.carried : carried_);
}

purpose current_await() noexcept {
    const innermost inside;
    const bool awaits = inside->whose.is(purpose_initiating) || !inside->runs_task();
    const bool told = !inside->is(frame_outermost) || inside->starting != 0;
    return awaits && told ? inside->whose : purpose{};
}

await_step::await_step(const purpose& of) noexcept {
    const innermost inside;
    const bool carries = detail::carried_attributes(of.carried) != 0;
    before_ = inside->whose;
    inside->whose = {of.task, of.carried,
                     purpose::make(of.serial(), carries ? purpose_carrying : purpose_step)};
    ++inside->starting;
}

await_step::~await_step() {
    const innermost inside;
    --inside->starting;
    inside->whose = before_;
}

std::uint64_t suspending_task() noexcept {
    const frame* const inside = this_thread.invocation;
    if (inside == nullptr || !inside->suspends() || inside->begun.ticks == 0) return 0;
    return inside->is(frame_suspends_plain) ? inside->whose.task : inside->begun.task;
}

}  // namespace coroscope::asio
