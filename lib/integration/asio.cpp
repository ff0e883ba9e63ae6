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

#include "asio_thread.hpp"

namespace coroscope::asio {

namespace {

// A step of what a coroutine awaits, the first or a later one.
void create_step(operation_state& created, const purpose& of, std::uint64_t ready_ticks) noexcept {
    created.task = of.task;
    created.wake = ready_ticks;
    created.waker = ready_ticks == 0 ? 0 : mark_here(of.initiating ? of.task : 0);
    created.carried = detail::carried_attributes(of.carried) == 0 ? 0 : retain_carried(of.carried);
    created.serial = of.serial;
    created.role = role::await;
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

void push(frame& inside) noexcept {
    settle();
    inside.outer = here.inner;
    here.inner = &inside;
}

void pop(const frame& inside) noexcept {
    settle();
    here.inner = inside.outer;
}

}  // namespace

void create_operation(operation_state& created, const char* type, const char* operation) noexcept {
    frame& inside = innermost();
    // Outside of handlers an await is started inside its location; one whose end was missed, because a
    // session stopped meanwhile, is over.
    if (here.inner == nullptr && here.starting == 0) inside.created = {};
    here.await_begins = false;
    const bool recording = load_gate() != 0;
    if (recording) check_scheduler();
    suspension& begun = here.suspending;
    std::uint64_t ready_ticks = 0;
    bool ready = false;
    if (begun.task != 0 && recording) {
        const operation_facts facts = facts_of(type, operation, begun.location);
        ready = facts.ready;
        ready_ticks = begun.ticks;
        begun.type = type;
        begun.operation = operation;
        // A timeout's timer is created before the operation that it guards, which names the await.
        if (!facts.timer) end_suspension(facts.site);
    } else if (recording) {
        ready = is_executor_work(operation);
    }
    if (inside.created.initiating || inside.depth == 0) {
        if (inside.created.task != 0) {
            if (ready && ready_ticks == 0) ready_ticks = now();
            return create_step(created, inside.created, ready ? ready_ticks : 0);
        }
        if (inside.created.back) return create_way_back(created, inside);
    }
    create_handler(created, type, operation, ready);
}

void reactor_operation(operation_state& performed) noexcept {
    if (load_gate() == 0) return;
    performed.wake = now();
    performed.waker = mark_here(0);
}

void location::enter() noexcept {
    if (!here.await_begins) return;  // a step of a composed operation
    here.await_begins = false;
    entered_ = true;
    ++here.starting;
    copy_awaiting(before_, here.before.created, here.before.suspending);
}

void location::leave() noexcept {
    if (here.suspending.task != before_.suspending.task) settle();
    if (before_.suspending.task != 0) [[unlikely]]
        here.suspending = before_.suspending;
    --here.starting;
    innermost().created = before_.created;
}

void completion::take(const operation_state* operation) noexcept {
    settle();
    taken_ = true;
    if (operation != nullptr) {
        operation_ = *operation;
        return;
    }
    // Older than the session: whatever it is, a task runs from here on.
    make_handler(operation_);
    if (load_gate() != 0)
        write_spawn(operation_.task, operation_.announced, 0, 0, trace::spawn_adopted, 0,
                    operation_.carried);
}

void completion::begin() noexcept {
    began_ = true;
    push(*new (&frame_) frame);
    if (operation_.role == role::handler) {
        new (&handler_) tracked_task;
        handler_.task = operation_.task;
        handler_.announced = operation_.announced;
        handler_.carried = operation_.carried;
        operation_.carried = 0;
        enter(handler_, operation_.wake, operation_.waker);
        frame_.depth = 1;
        return;
    }
    frame_.created.task = operation_.role == role::await ? operation_.task : 0;
    frame_.created.serial = operation_.serial;
    frame_.created.carried = operation_.carried;
    frame_.created.back = operation_.role == role::back && operation_.waker != 0;
    frame_.wake = operation_.wake;
    frame_.waker = operation_.waker;
    carried_before_ = this_thread.carried;
    if (operation_.carried != 0) detail::rebind(operation_.carried);
}

void completion::end(bool failed) noexcept {
    pop(frame_);
    if (operation_.role == role::handler) {
        if (failed && load_gate() != 0) detail::unseen_exception_leaves(handler_.task);
        if (load_gate() != 0)
            record_finish(handler_, now(), failed ? trace::finish_exception : 0U,
                          task_of(handler_.before.mark));
        detail::restore(handler_.before);
        drop_carried(handler_.carried);
    } else if (operation_.carried != 0) {
        detail::rebind(carried_before_);
        drop_carried(operation_.carried);
    }
    taken_ = began_ = false;
}

void completion::drop() noexcept {
    if (began_) return end(true);
    taken_ = false;
    if (operation_.role == role::handler && load_gate() != 0) {
        new (&handler_) tracked_task;
        handler_.task = operation_.task;
        handler_.announced = operation_.announced;
        record_finish(handler_, now(), trace::finish_cancelled, current_task());
    }
    drop_carried(operation_.carried);
}

}  // namespace coroscope::asio
