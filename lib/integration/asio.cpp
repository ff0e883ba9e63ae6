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
void create_step(operation_state& created, const purpose& of, bool ready, bool suspends) noexcept {
    const bool later = ready && !suspends;
    created.task = of.task;
    created.wake = later ? now() : 0;
    created.waker = later ? mark_here(of.initiating ? of.task : 0) : 0;
    created.carried = detail::carried_attributes(of.carried) == 0 ? 0 : retain_carried(of.carried);
    created.serial = of.serial;
    created.role = ready && suspends ? role::turn : role::await;
}

// The result of an awaited co_spawn on its way to its awaiter.
void create_way_back(operation_state& created, const frame& inside) noexcept {
    created = {0, inside.wake, inside.waker, 0, 0, 0, role::back};
}

void make_handler(operation_state& created) noexcept {
    created = {detail::new_task_id(), 0, 0, retain_carried(this_thread.carried), 0, 0,
               role::handler};
}

void create_handler(operation_state& created, const char* type, const char* operation,
                    bool ready) noexcept {
    make_handler(created);
    if (load_gate() == 0) return;
    write_spawn(created.task, created.announced, now(), operation_site(type, operation, nullptr),
                ready ? trace::spawn_ready : 0U, current_task(), created.carried);
}

[[gnu::noinline]] void create_any(operation_state& created, const char* type,
                                  const char* operation) noexcept {
    frame& inside = innermost();
    // Outside of handlers an await is started inside its location; one whose end was missed, because a
    // session stopped meanwhile, is over.
    if (here.inner == nullptr && here.starting == 0) inside.created = {};
    here.await_begins = await_start::none;
    const bool recording = load_gate() != 0;
    if (recording && !scheduler_seen.load(std::memory_order_relaxed)) scheduler_missing();
    suspension& begun = here.suspending;
    bool ready = false;
    bool suspends = false;
    if (begun.task != 0 && recording) {
        const operation_facts facts = facts_of(type, operation, begun.location);
        ready = facts.ready;
        suspends = begun.ticks != 0 && begun.task == inside.created.task;
        begun.type = type;
        begun.operation = operation;
        // A timeout's timer is created before the operation that it guards, which names the await.
        if (!facts.timer) end_suspension(facts.site);
    } else if (recording) {
        ready = is_executor_work(operation);
    }
    if (inside.created.initiating || inside.depth == 0) {
        if (inside.created.task != 0) return create_step(created, inside.created, ready, suspends);
        if (inside.created.back) return create_way_back(created, inside);
    }
    create_handler(created, type, operation, ready);
}

// Does what is created here name the await of a coroutine that has just suspended in a handler?
bool names_plain_await(const suspension& begun, const frame* inside) noexcept {
    return begun.task != 0 && inside != nullptr && inside->created.task == begun.task &&
           begun.ticks != 0 && only_records(load_gate()) &&
           begun.before.carried == this_thread.carried &&
           detail::carried_attributes(inside->created.carried) == 0 &&
           scheduler_seen.load(std::memory_order_relaxed);
}

}  // namespace

void create_operation(operation_state& created, const char* type, const char* operation) noexcept {
    suspension& begun = here.suspending;
    const frame* const inside = here.inner;
    operation_facts facts;
    char* at = nullptr;
    if (!names_plain_await(begun, inside) ||
        !recent_operations::find(type, operation, begun.location, facts) || facts.timer ||
        !find_place(at, long_record_bytes)) [[unlikely]]
        return create_any(created, type, operation);
    here.await_begins = await_start::none;
    fill_record(at, begun.ticks, make_tag(record_kind::suspend, facts.site, 0), begun.task,
                task_of(begun.before.mark));
    created.task = begun.task;
    created.wake = created.waker = created.carried = 0;
    created.serial = inside->created.serial;
    created.role = facts.ready ? role::turn : role::await;
    begun.task = 0;
    detail::run_on(begun.before.mark, begun.before.frame);
}

void reactor_operation(operation_state& performed) noexcept {
    if (load_gate() == 0) return;
    performed.wake = now();
    performed.waker = mark_here(0);
}

await_start location::enter() noexcept {
    const await_start kind = here.await_begins;
    here.await_begins = await_start::none;
    if (kind == await_start::nested) [[unlikely]] {
        ++here.starting;
        copy_awaiting(before_, here.before.created, here.before.suspending);
    }
    return kind;
}

void location::leave() noexcept {
    if (entered_ != await_start::plain || here.inner == nullptr || here.suspending.task != 0)
        [[unlikely]]
        return leave_any();
    here.inner->created = {};
}

[[gnu::noinline]] void location::leave_any() noexcept {
    if (entered_ == await_start::plain) before_ = {};
    if (here.suspending.task != before_.suspending.task) settle();
    if (before_.suspending.task != 0) [[unlikely]]
        here.suspending = before_.suspending;
    if (entered_ == await_start::nested) --here.starting;
    innermost().created = before_.created;
}

void completion::take(const operation_state& operation) noexcept {
    if (operation.role == role::untracked || operation.role == role::handler) [[unlikely]]
        return take_handler(operation);
    stage_ = stage::taken;
    role_ = operation.role;
    carried_ = operation.carried;
    const bool back = role_ == role::back;
    frame_.created = {back ? 0 : operation.task,    operation.carried,  operation.serial, false,
                      back && operation.waker != 0, role_ == role::turn};
    frame_.wake = operation.wake;
    frame_.waker = operation.waker;
    frame_.depth = 0;
    settle();
}

[[gnu::noinline]] void completion::take_handler(const operation_state& operation) noexcept {
    settle();
    stage_ = stage::taken;
    role_ = role::handler;
    carried_ = 0;
    new (&frame_) frame;
    new (&handler_) tracked_task;
    if (operation.role == role::handler) {
        handler_.task = operation.task;
        handler_.announced = operation.announced;
        handler_.carried = operation.carried;
        frame_.wake = operation.wake;
        frame_.waker = operation.waker;
        return;
    }
    // Older than the session: whatever it is, a task runs from here on.
    handler_.task = detail::new_task_id();
    handler_.carried = retain_carried(this_thread.carried);
    if (load_gate() != 0)
        write_spawn(handler_.task, handler_.announced, 0, 0, trace::spawn_adopted, 0,
                    handler_.carried);
}

// An operation that somebody awaits, without attributes, in nobody's suspension.
bool completion::is_plain() const noexcept {
    return role_ != role::handler && carried_ == 0 && here.suspending.task == 0;
}

void completion::push() noexcept {
    stage_ = stage::began;
    frame_.outer = here.inner;
    here.inner = &frame_;
}

void completion::pop() noexcept {
    here.inner = frame_.outer;
    stage_ = stage::absent;
}

void completion::begin() noexcept {
    if (!is_plain()) [[unlikely]]
        return begin_any();
    push();
}

[[gnu::noinline]] void completion::begin_any() noexcept {
    settle();
    push();
    if (role_ == role::handler) {
        const std::uint64_t wake = frame_.wake;
        frame_.wake = 0;
        enter(handler_, wake, frame_.waker);
        frame_.waker = 0;
        frame_.depth = 1;
    } else if (carried_ != 0) {
        carried_before_ = this_thread.carried;
        detail::rebind(carried_);
    }
}

void completion::end() noexcept {
    if (!is_plain()) [[unlikely]]
        return end_any(false);
    pop();
}

[[gnu::noinline]] void completion::end_any(bool failed) noexcept {
    settle();
    pop();
    if (role_ == role::handler) {
        if (failed && load_gate() != 0) detail::unseen_exception_leaves(handler_.task);
        if (load_gate() != 0)
            record_finish(handler_, now(), failed ? trace::finish_exception : 0U,
                          task_of(handler_.before.mark));
        detail::restore(handler_.before);
        drop_carried(handler_.carried);
    } else if (carried_ != 0) {
        detail::rebind(carried_before_);
        drop_carried(carried_);
    }
}

void completion::drop() noexcept {
    if (stage_ == stage::began) return end_any(true);
    stage_ = stage::absent;
    const bool handler = role_ == role::handler;
    if (handler && load_gate() != 0)
        record_finish(handler_, now(), trace::finish_cancelled, current_task());
    drop_carried(handler ? handler_.carried : carried_);
}

}  // namespace coroscope::asio
