// SPDX-License-Identifier: Apache-2.0

// Asio's operations, as its handler tracking reports them:
//
//   LOCATION                 the awaited operation of a coroutine is being started
//   CREATION                 an operation: a step of the await that is being started or
//                            continued, or a new one, whose handler is a task
//   COMPLETION, BEGIN, END   its handler runs; without BEGIN it was destroyed
//   REACTOR_OPERATION        the reactor has completed it: its wake

#include <new>

#include <coroscope/integration/asio.hpp>
#include <coroscope/trace/executor_format.hpp>

#include "../../runtime/tasks/context.hpp"
#include "../../runtime/writer/executors.hpp"
#include "asio_check.hpp"
#include "asio_innermost.hpp"
#include "asio_tasks.hpp"

namespace coroscope::asio {

namespace {

static_assert(purpose::executor_at == executor_number_shift);

// In each function below, `on` is the executor of the operation.

// The handler of a timer or of a cancelled operation may pass work to an executor. The task was
// ready from the timer's expiry or the cancellation on, because it awaits nothing in between.
// Returns whether that applies.
bool passes_on(operation_state& created, const frame& inside) noexcept {
    if ((inside.wake & (wake_expiry | wake_cancelled)) == 0) return false;
    created.wake = inside.wake;
    created.waker = inside.waker;
    return true;
}

// Returns the mark of the waker of a step that is ready from now on. An operation that had no wake
// is completed by the code that calls its handler, as a channel's is by the other side: by the
// running task, or by one that has suspended and is starting the operation that it awaits. Any
// other operation may have come from a loop that a task runs.
[[gnu::always_inline]] inline std::uint64_t completer(const frame& inside) noexcept {
    if (inside.wake != 0) return mark_here(0);
    const bool runs_task = current_task() != 0;
    const frame* const outer = inside.outer;
    if (runs_task || outer == nullptr || !outer->whose.is(purpose_initiating))
        return this_thread.mark;
    return mark_here(outer->whose.task);
}

// Creates a step of a coroutine's await. If the first step, created while the coroutine suspends,
// is work for an executor, the coroutine is ready as soon as it has suspended. A later step that is
// ready at once is ready from now on.
void create_step(operation_state& created, const frame& inside, std::uint32_t kind, bool is_ready,
                 bool suspends, executor_bits on) noexcept {
    const purpose& of = inside.whose;
    const bool later = is_ready && !suspends;
    created.whose.task = of.task;
    created.whose.carried = kind == purpose_carrying ? retain_carried(of.carried) : 0;
    created.whose.which =
        purpose::make(of.serial(), kind | (is_ready && suspends ? purpose_ready : 0U)) | on;
    if (later && !of.is(purpose_initiating) && passes_on(created, inside)) return;
    created.wake = later ? now() : 0;
    created.waker = 0;
    if (later) created.waker = of.is(purpose_initiating) ? mark_here(of.task) : completer(inside);
}

bool has_attributes(const purpose& of) noexcept {
    return detail::carried_attributes(of.carried) != 0;
}

// The purpose of the operation that passes on a co_spawn's result, and of its invocation: an
// awaited result wakes the awaiter.
constexpr std::uint64_t way_back(std::uint64_t waker) noexcept {
    return purpose::make(0, waker != 0 ? purpose_back : purpose_step);
}

[[gnu::noinline]] void note_turn(operation_state& created) noexcept {
    created.wake = now() | wake_returned;
}

// The result of a co_spawn on its way to its awaiter, if it has one. If its function never
// suspended, Asio gives it a second turn on the co_spawn's own executor before the one on the
// awaiter's: the awaiter is not ready before that turn has come.
void create_way_back(operation_state& created, const frame& inside, executor_bits on) noexcept {
    created = {{0, 0, way_back(inside.waker) | on}, inside.wake, inside.waker};
    const bool had_a_turn = (inside.whose.which & purpose::executor_mask) != 0;
    if (had_a_turn && inside.wake != 0 && load_gate() != 0) note_turn(created);
}

// As above, with the attributes of the co_spawn's task: the operation is carrying, without a task.
// If a composed operation continues after its co_spawn with anything but work for an executor, the
// awaiter is not ready.
void create_any_way_back(operation_state& created, const frame& inside, operation_kind kind,
                         executor_bits on) noexcept {
    create_way_back(created, inside, on);
    if (kind != operation_kind::work) created.wake = 0;
    created.whose.carried = retain_carried(inside.whose.carried);
    if (has_attributes(created.whose))
        created.whose.which = purpose::make(0, purpose_carrying) | on;
}

void make_handler(operation_state& created, executor_bits on) noexcept {
    created = {{detail::new_task_id(), retain_carried(this_thread.carried),
                purpose::make(0, purpose_handler) | on},
               0,
               0};
}

void create_handler(operation_state& created, const char* type, const char* operation,
                    bool is_ready, executor_bits on) noexcept {
    make_handler(created, on);
    if (load_gate() == 0) return;
    std::uint16_t announced = 0;
    write_spawn(created.whose.task, announced, now(),
                is_ready ? spawn_site(type, operation, nullptr)
                         : operation_site(type, operation, nullptr),
                is_ready ? trace::spawn_ready | trace::spawn_on(executor_number(on)) : 0U,
                current_task(), created.whose.carried);
    created.whose.which |= announced;
}

// Forgets an await whose end was missed because a session stopped in between: outside handlers an
// await is started inside its location. Keeps the result of a co_spawn, for the next operation.
void forget_missed(frame& outermost) noexcept {
    if (!outermost.whose.is(purpose_back)) outermost.whose = {};
}

// Returns the number of the awaited object; 0 for work, which waits only for its executor.
std::uint32_t awaited_number(const char* type, operation_kind kind, const void* object) noexcept {
    return kind == operation_kind::work ? 0 : number_of(type, object);
}

[[gnu::noinline]] void create_any(operation_state& created, const char* type, const char* operation,
                                  operation_kind kind, const void* object,
                                  executor_bits on) noexcept {
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
        begun.object = awaited_number(type, kind, object);
        // A timer may guard the operation that names the await (note_timer()).
        if (kind != operation_kind::timer)
            end_suspension(*inside, operation_site(type, operation, begun.location), begun.object);
    }
    if (inside->whose.is(purpose_initiating) || !inside->runs_task()) {
        if (inside->whose.has_task())
            return create_step(created, *inside,
                               has_attributes(inside->whose) ? purpose_carrying : purpose_step,
                               is_ready, suspends, on);
        if (inside->whose.is(purpose_back)) {
            create_any_way_back(created, *inside, kind, on);
            if (stands_alone) inside->whose = {};
            return;
        }
    }
    create_handler(created, type, operation, is_ready, on);
}

[[gnu::noinline]] void note_careful_wake(operation_state& created) noexcept {
    created.wake = now();
}

// The functions of the short path call others only as their last action, so that it saves no
// registers.

// A later step of an await without attributes. If it is work, it is ready: `waker` is the task that
// makes it ready; 0: the completer.
[[gnu::always_inline]] inline void create_plain_step(operation_state& created, const frame& inside,
                                                     operation_kind kind, std::uint64_t waker,
                                                     executor_bits on) noexcept {
    const purpose& of = inside.whose;
    created.whose.task = of.task;
    created.whose.carried = 0;
    created.whose.which = purpose::make(of.serial(), purpose_step) | on;
    created.wake = 0;
    if (kind != operation_kind::work || (waker == 0 && passes_on(created, inside))) return;
    const std::int32_t gate = load_gate_once();
    if (gate == 0) return;
    created.waker = waker != 0 ? mark_here(waker) : completer(inside);
    if (!counts_time(gate)) [[unlikely]]
        return note_careful_wake(created);
    created.wake = detail::counter_ticks();
}

// The short path while the handler runs no task and no coroutine suspends.
[[gnu::noinline]] void create_while_idle(operation_state& created, const char* type,
                                         const char* operation, operation_kind kind,
                                         const void* object, executor_bits on) noexcept {
    const frame& inside = *this_thread.invocation;
    const purpose& of = inside.whose;
    if (of.is(purpose_step) && of.task != 0) [[likely]]
        return create_plain_step(created, inside, kind, 0, on);
    if (of.is(purpose_back) && of.task == 0) {
        if (kind == operation_kind::work && !has_attributes(of)) [[likely]]
            return create_way_back(created, inside, on);
    } else if (of.is(purpose_initiating) && of.task != 0 && !has_attributes(of)) {
        return create_plain_step(created, inside, kind, of.task, on);
    }
    create_any(created, type, operation, kind, object, on);
}

// Returns whether the coroutine that suspends here took the short path and its awaited operation is
// not named yet.
[[gnu::always_inline]] inline bool awaits_plainly(const frame& inside) noexcept {
    return (inside.state & ~std::uint32_t{frame_begins}) == frame_suspends_plain &&
           no_more_than_records(load_gate()) && inside.whose.carried == this_thread.carried;
}

// The first step of an await of a coroutine that suspends on the short path.
[[gnu::always_inline]] inline void create_first_step(operation_state& created, const frame& inside,
                                                     bool ready, executor_bits on) noexcept {
    constexpr std::uint64_t changed = purpose::make(0, purpose_initiating | purpose_step);
    created.whose.task = inside.whose.task;
    created.whose.carried = 0;
    created.whose.which = (inside.whose.which ^ changed) |
                          std::uint64_t{ready} * purpose::make(0, purpose_ready) | on;
    created.wake = 0;
}

// The timer of a timeout is created before the guarded operation. The guarded operation, not the
// timer, names the await.
bool note_timer(frame& inside, const char* type, const char* operation,
                const void* object) noexcept {
    if (!scheduler_seen.load(std::memory_order_relaxed)) return false;
    inside.state = frame_suspends_plain;
    inside.begun.type = type;
    inside.begun.operation = operation;
    inside.begun.object = number_of(type, object);
    return true;
}

// The operation names the await: writes the record of the suspension.
[[gnu::always_inline]] inline bool
name_await(frame& inside, const char* type, const char* operation, std::uint32_t object) noexcept {
    std::uint32_t site = 0;
    char* at = nullptr;
    if (!recent_operations::find(type, operation, inside.begun.location, site) ||
        !find_long_place(at)) [[unlikely]]
        return false;
    const std::uint64_t mark = inside.begun.before.mark;
    detail::task_state* const before = inside.begun.before.frame;
    fill_record(at, inside.begun.ticks, make_tag(record_kind::suspend, site, object),
                inside.whose.task, task_of(mark));
    inside.state = frame_idle;
    this_thread.mark = mark;
    this_thread.frame = before;
    return true;
}

// An operation that waits for an object, created while a coroutine suspends.
[[gnu::noinline]] void create_waiting(operation_state& created, const char* type,
                                      const char* operation, operation_kind kind,
                                      const void* object, executor_bits on) noexcept {
    frame& inside = *this_thread.invocation;
    bool done = false;
    if (awaits_plainly(inside)) {
        create_first_step(created, inside, false, on);
        done = kind == operation_kind::timer
                   ? note_timer(inside, type, operation, object)
                   : name_await(inside, type, operation, number_of(type, object));
    }
    if (!done) [[unlikely]]
        create_any(created, type, operation, kind, object, on);
}

// As above, for work. Returns false if the await is unusual.
[[gnu::always_inline]] inline bool create_awaited_work(operation_state& created, frame& inside,
                                                       const char* type, const char* operation,
                                                       executor_bits on) noexcept {
    create_first_step(created, inside, true, on);
    return name_await(inside, type, operation, 0);
}

void create(operation_state& created, const char* type, const char* operation, operation_kind kind,
            const void* object, executor_bits on) noexcept {
    frame* const inside = this_thread.invocation;
    if (inside == nullptr) [[unlikely]]
        return create_any(created, type, operation, kind, object, on);
    if (inside->state == frame_idle)
        return create_while_idle(created, type, operation, kind, object, on);
    if (kind != operation_kind::work)
        return create_waiting(created, type, operation, kind, object, on);
    if (!awaits_plainly(*inside) || !create_awaited_work(created, *inside, type, operation, on))
        create_any(created, type, operation, kind, object, on);
}

[[gnu::cold, gnu::noinline]] void create_after_lookup(operation_state& created, const char* type,
                                                      const char* operation, operation_kind kind,
                                                      const void* object,
                                                      std::uintptr_t context) noexcept {
    create(created, type, operation, kind, object, look_up_context(context, type));
}

[[gnu::noinline]] void create_in_context(operation_state& created, const char* type,
                                         const char* operation, operation_kind kind,
                                         const void* object, std::uintptr_t context) noexcept {
    executor_bits on = 0;
    if (!find_at_first_place(context, on)) [[unlikely]]
        return create_after_lookup(created, type, operation, kind, object, context);
    create(created, type, operation, kind, object, on);
}

}  // namespace

// The short path of an awaited post. Its other way out repeats constants, so that few values are in
// registers and none is saved.
void create_operation(operation_state& created, const char* type, const char* operation,
                      operation_kind kind, const void* object, std::uintptr_t context) noexcept {
    if (kind != operation_kind::work)
        return create_in_context(created, type, operation, kind, object, context);
    frame* const inside = this_thread.invocation;
    executor_bits on = 0;
    if (inside != nullptr && awaits_plainly(*inside) && find_at_first_place(context, on) &&
        create_awaited_work(created, *inside, type, operation, on)) [[likely]]
        return;
    create_in_context(created, type, operation, operation_kind::work, nullptr, context);
}

void create_on_strand(operation_state& created, const char* type, const char* operation,
                      operation_kind kind, const void* strand, const void* context) noexcept {
    create(created, type, operation, kind, nullptr, find_strand(strand, context));
}

void reactor_operation(operation_state& performed) noexcept {
    if (load_gate() == 0) return;
    performed.wake = now();
    performed.waker = mark_here(0);
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
        if (operation.whose.task == 0)
            frame_.whose.which =
                way_back(operation.waker) | (operation.whose.which & purpose::executor_mask);
        return;
    }
    new (&handler_) tracked_task;
    frame_.whose = {};
    carried_ = 0;
    executor_ = static_cast<std::uint16_t>(operation.whose.executor());
    if (operation.whose.is(purpose_handler)) {
        handler_.task = operation.whose.task;
        handler_.announced = static_cast<std::uint16_t>(operation.whose.which);
        handler_.carried = operation.whose.carried;
        frame_.wake = operation.wake;
        frame_.waker = operation.waker;
        return;
    }
    // The operation is older than the session, so its kind is unknown. Its handler is recorded as a
    // new task from now on.
    frame_.wake = frame_.waker = 0;
    handler_.task = detail::new_task_id();
    handler_.carried = retain_carried(this_thread.carried);
    if (load_gate() != 0)
        write_spawn(handler_.task, handler_.announced, 0, 0, trace::spawn_adopted, 0,
                    handler_.carried);
}

}  // namespace coroscope::asio
