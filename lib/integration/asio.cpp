// SPDX-License-Identifier: Apache-2.0

// Tasks out of Asio's handler tracking. What Asio tells, and what it means here:
//
//   LOCATION (null)                 a use_awaitable operation starts: operations created inside are
//                                   awaited by the running task
//   LOCATION co_spawn_entry_point   co_spawn starts a child, by an operation created inside or by
//                                   running it inside; or, a few lines further down in Asio's own
//                                   file, a child has ended and posts its result back
//   CREATION                        an operation: an await's, a child's first, or an executor's own
//   COMPLETION, BEGIN, END          its handler runs; without BEGIN it was destroyed
//   REACTOR_OPERATION               the reactor has done it: its wake

#include <cstring>
#include <new>

#include <coroscope/integration/asio.hpp>

#include "../runtime/frames.hpp"
#include "asio_task.hpp"

namespace coroscope::asio {

namespace {

// A co_spawn's end stands this many lines below its start in Asio's source, in every version so far.
constexpr int entry_point_lines = 40;

struct thread_asio {
    frame* running = nullptr;
    location* locations = nullptr;
};
// Not initial-exec: touched only while something records.
thread_local constinit thread_asio here;

// The task's context becomes the thread's.
void install_task(frame& inside, const task* entered) noexcept {
    inside.link.task = entered->id;
    inside.link.carried = detail::carried_session(entered->carried);
    inside.link.announced = entered->announced;
    detail::set_flags(inside.link, detail::task_any_frame);
    const std::uint64_t thread = this_thread.mark & detail::mark_thread_mask;
    detail::install((entered->id << trace::mark_thread_bits) | thread, entered->carried, &inside.link);
}

// The thread runs the task inside this frame from here on. The task's session comes first and the
// task itself last: a chunk that the record opens names what ran before.
template <class Record>
void enter(frame& inside, task* entered, const Record& write) noexcept {
    inside.running = retain(entered);
    inside.link.before = detail::current_resumer();
    if (this_thread.carried != entered->carried) detail::rebind(entered->carried);
    if (load_gate() != 0) write();
    install_task(inside, entered);
}

// The task's slice in this frame is over, though the invocation that began it goes on: what follows
// in it is Asio's, and may be another invocation, of the same task too.
void depart(frame& inside) noexcept {
    inside.continued = true;
    detail::restore(inside.link.before);
}

void push(frame& inside) noexcept {
    inside.outer = here.running;
    inside.locations = here.locations;
    here.running = &inside;
    here.locations = nullptr;
}

void pop(frame& inside) noexcept {
    here.running = inside.outer;
    here.locations = inside.locations;
}

// The task's stretch in this frame is over: it awaits something, or it has ended.
void leave(frame& inside, std::uint32_t flags) noexcept {
    task* left = inside.running;
    if (left == nullptr) return;
    if (!inside.continued) {
        finish(*left, flags, task_of(inside.link.before.mark));
        detail::restore(inside.link.before);
    }
    inside.running = nullptr;
    release(left);
}

// The running task awaits a child that co_spawn makes. To be done before anybody else can know the
// child: it may run to its end on another thread before the co_spawn call returns.
void await_child(const location& spawn, task& child, std::uint64_t ticks) noexcept {
    frame* inside = here.running;
    if (spawn.outer_ == nullptr || spawn.outer_->kind_ != location::kind::await) return;
    if (inside == nullptr || inside->running == nullptr || inside->continued) return;
    task& waiting = *inside->running;
    keep_carried(waiting.carried, this_thread.carried);
    child.awaiter = retain(&waiting);
    child.awaiter_serial = ++waiting.serial;
    const std::uint32_t site = operation_site("", "co_spawn");
    if (char* at = reserve_for(waiting)) {
        write_record(at, ticks, make_tag(record_kind::suspend, site, 0), waiting.id, task_of(inside->link.before.mark));
        write_record(at + 32, ticks, make_tag(record_kind::awaiting, 0, 0), waiting.id, child.id);
    }
    depart(*inside);
}

// A co_spawn child that runs inside its co_spawn call: found out at the first thing that it does.
void start_inline_child(location& spawn) noexcept {
    auto* inside = new (std::nothrow) frame;
    task* child = make_task(spawn.line_);
    if (inside == nullptr || child == nullptr) {
        delete inside;
        release(child);
        return;
    }
    const std::uint64_t parent = current_task();
    await_child(spawn, *child, spawn.entered_ticks_);
    inside->outer = here.running;
    here.running = inside;
    enter(*inside, child, [&] {
        write_spawn(*child, spawn.entered_ticks_, operation_site("", "co_spawn"),
                    trace::spawn_started | trace::spawn_ready, parent);
    });
    release(child);  // the frame counts it now
    spawn.inline_child_ = inside;
    spawn.used_ = true;
}

// Whoever hands work to an executor wakes the task that continues in it: itself.
void write_self_wake(char* at, std::uint64_t ticks, std::uint64_t task) noexcept {
    const std::uint64_t thread = this_thread.mark & detail::mark_thread_mask;
    write_record(at, ticks, make_tag(record_kind::wake, 0, thread), task, task);
}

void await_operation(task& waiting, tracked_handler& handler) noexcept {
    handler.task_ = retain(&waiting);
    handler.serial_ = ++waiting.serial;
    handler.role_ = role::await;
}

// The task awaits this operation: its slice in this frame ends. Records that belong together stand in
// one reservation (64 bytes), so that no chunk begins in between and names the wrong task as current.
void suspend(frame& inside, tracked_handler& handler, const char* type, const char* operation) noexcept {
    task& waiting = *inside.running;
    const std::uint32_t site = operation_site(type, operation);
    const std::uint64_t ticks = now();
    keep_carried(waiting.carried, this_thread.carried);
    if (char* at = reserve_for(waiting)) {
        write_record(at, ticks, make_tag(record_kind::suspend, site, 0), waiting.id, task_of(inside.link.before.mark));
        if (is_executor_work(operation)) write_self_wake(at + 32, ticks, waiting.id);
    }
    depart(inside);
    inside.by_timer = is_timer(type);
    await_operation(waiting, handler);
}

// The task awaits this operation, and not the timer that it seemed to await: that suspension is taken
// back and another put in its place.
void replace_await(frame& inside, tracked_handler& handler, const char* type, const char* operation) noexcept {
    task& waiting = *inside.running;
    if (this_thread.carried != waiting.carried) detail::rebind(waiting.carried);
    const std::uint32_t site = operation_site(type, operation);
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(waiting)) {
        write_record(at, ticks, make_tag(record_kind::cancel, 0, 0), waiting.id, 0);
        write_record(at + 32, ticks, make_tag(record_kind::suspend, site, 0), waiting.id,
                     task_of(inside.link.before.mark));
    }
    detail::restore(inside.link.before);
    inside.by_timer = false;
    await_operation(waiting, handler);
}

void spawn_child(tracked_handler& handler, location* spawn, const char* type, const char* operation) noexcept {
    task* child = make_task(spawn != nullptr ? spawn->line_ : 0);
    if (child == nullptr) return;
    const std::uint32_t site = spawn != nullptr ? operation_site("", "co_spawn") : operation_site(type, operation);
    const std::uint64_t ticks = now();
    write_spawn(*child, ticks, site, is_executor_work(operation) ? trace::spawn_ready : 0U, current_task());
    if (spawn != nullptr) {
        spawn->used_ = true;
        await_child(*spawn, *child, ticks);
    }
    handler.task_ = child;
    handler.role_ = role::start;
}

// A co_spawn child has run to its end and posts its result back.
void end_child(frame& inside, tracked_handler& handler) noexcept {
    finish(*inside.running, 0, task_of(inside.link.before.mark));
    depart(inside);
    handler.task_ = retain(inside.running);
    handler.role_ = role::back;
}

location* find_location(location::kind kind) noexcept {
    for (location* at = here.locations; at != nullptr; at = at->outer_) {
        if (at->kind_ == kind) return at;
        if (at->kind_ != location::kind::step) return nullptr;
    }
    return nullptr;
}

// May this operation take the place of the one that the task seems to await in this frame? A
// timeout's timer is created before the operation that it guards.
bool replaces(const frame& inside, const char* type, const char* operation) noexcept {
    return inside.by_timer && !is_timer(type) && !is_executor_work(operation);
}

void create_in_frame(frame& inside, tracked_handler& handler, const char* type, const char* operation) noexcept {
    const bool awaited = find_location(location::kind::await) != nullptr;
    if (inside.continued) {
        if (replaces(inside, type, operation)) replace_await(inside, handler, type, operation);
        return;
    }
    // Until the task's own code has run, what an invocation creates carries on with its await: the
    // next step of a composed operation, a strand's hop.
    if (awaited || !inside.user_code) return suspend(inside, handler, type, operation);
    spawn_child(handler, nullptr, type, operation);
}

}  // namespace

void create_operation(tracked_handler& handler, const char* type, const char* operation) noexcept {
    handler.tracked_ = true;
    handler.type_ = type;
    handler.operation_ = operation;
    if (find_location(location::kind::spawn_end) != nullptr && here.running != nullptr &&
        here.running->running != nullptr && !here.running->continued)
        return end_child(*here.running, handler);
    if (location* spawn = find_location(location::kind::spawn)) {
        if (!spawn->used_) spawn_child(handler, spawn, type, operation);
        return;
    }
    if (here.running != nullptr) {
        if (here.running->running != nullptr) create_in_frame(*here.running, handler, type, operation);
        return;
    }
    spawn_child(handler, nullptr, type, operation);
}

void reactor_operation(tracked_handler& handler) noexcept {
    if (load_gate() != 0) handler.wake_ = now();
}

void location::enter(const char* file, int line, const char* function) noexcept {
    entered_ = true;
    line_ = line;
    outer_ = here.locations;
    location* spawn = nullptr;
    if (outer_ != nullptr && outer_->kind_ == kind::spawn && !outer_->used_) spawn = outer_;
    const bool entry_point = function != nullptr && std::strcmp(function, "co_spawn_entry_point") == 0;
    const auto ends = [line](int start) { return start != 0 && start < line && line < start + entry_point_lines; };
    if (spawn != nullptr && (file == nullptr || entry_point)) start_inline_child(*spawn);
    if (entry_point) {
        const bool end = here.running != nullptr && here.running->running != nullptr &&
                         ends(here.running->running->entry_line);
        kind_ = end ? kind::spawn_end : kind::spawn;
        if (!end) entered_ticks_ = now();
    } else if (file == nullptr) {
        kind_ = kind::await;
    }
    if (kind_ != kind::step && here.running != nullptr) here.running->user_code = true;
    here.locations = this;
}

void location::leave() noexcept {
    here.locations = outer_;
    if (inline_child_ != nullptr) {
        here.running = inline_child_->outer;
        asio::leave(*inline_child_, 0);
        delete inline_child_;
    }
}

void completion::take(const tracked_handler& handler) noexcept {
    taken_ = true;
    task_ = handler.task_;
    wake_ = handler.wake_;
    serial_ = handler.serial_;
    role_ = handler.role_;
    type_ = handler.type_;
    operation_ = handler.operation_;
    if (handler.tracked_) return;
    // Older than the session: whatever it is, a task runs from here on.
    task_ = make_task(0);
    role_ = task_ == nullptr ? role::none : role::start;
    if (task_ != nullptr && load_gate() != 0) write_spawn(*task_, 0, 0, trace::spawn_adopted, 0);
}

void completion::begin() noexcept {
    began_ = true;
    push(frame_);
    task* resumed = role_ == role::back ? (task_->awaiter) : task_;
    const std::uint32_t serial = role_ == role::back ? task_->awaiter_serial : serial_;
    if (resumed == nullptr || role_ == role::none) return;
    if (role_ != role::start && resumed->serial != serial) return;
    asio::enter(frame_, resumed, [&] {
        const std::uint64_t thread = this_thread.mark & detail::mark_thread_mask;
        if (wake_ != 0) record(*resumed, record_kind::wake, wake_, 0, thread, 0);
        record(*resumed, record_kind::resume, now(), 0, 0, task_of(frame_.link.before.mark));
    });
}

void completion::end(bool failed) noexcept {
    asio::leave(frame_, failed ? trace::finish_exception : 0U);
    pop(frame_);
    began_ = false;
    release(task_);
    taken_ = false;
}

void completion::drop() noexcept {
    if (began_) return end(true);
    if (task_ != nullptr && load_gate() != 0) {
        if (role_ == role::start) finish(*task_, trace::finish_cancelled, current_task());
        if (role_ == role::await && task_->serial == serial_)
            finish(*task_, trace::finish_destroyed, current_task());
    }
    release(task_);
    taken_ = false;
}

}  // namespace coroscope::asio

namespace coroscope::detail {

void swap_stack_place(stack_place& place) noexcept {
    asio::thread_asio& here = asio::here;
    const stack_place before{{here.running, here.locations}};
    here.running = static_cast<asio::frame*>(place.words[0]);
    here.locations = static_cast<asio::location*>(place.words[1]);
    place = before;
}

}  // namespace coroscope::detail
