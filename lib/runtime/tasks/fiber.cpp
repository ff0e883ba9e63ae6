// SPDX-License-Identifier: Apache-2.0

// The recording half of fibers. A fiber is a task whose slices are the times in which its stack
// runs. Its context is always installed while it runs, even if no session records: all tasks on its
// stack then form a chain (thread_state::frame, task_state::before) that ends at the fiber, and the
// chain can be put aside and taken up again with the fiber.

#include <coroscope/fiber.hpp>

#include <exception>

#include "../carried/attribute.hpp"
#include "../carried/attribute_nodes.hpp"
#include "../writer/executors.hpp"
#include "../writer/recorder.hpp"
#include "context.hpp"
#include "frames.hpp"
#include "general_transitions.hpp"
#include "live_transitions.hpp"
#include "task_recording.hpp"
#include "unwinding.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

constexpr std::uint64_t unknown_ticks = ~std::uint64_t{0};

// If a thread's own stack runs tasks already, its fiber is no task. The fiber's `task` is then the
// outermost of them.
bool is_task(const fiber_state& fiber) noexcept { return (fiber.task.flags & task_fiber) != 0; }

bool is_slice(const resumer& at) noexcept {
    return at.frame != nullptr && at.frame->task == task_of(at.mark);
}

// The fiber's own code, with nothing on top of it.
bool is_own(const fiber_state& fiber, const resumer& at) noexcept {
    return at.frame == &fiber.task && is_slice(at);
}

// The context that a slice or a context on the fiber's stack interrupts. at.frame must not be null.
resumer beneath(const resumer& at) noexcept {
    if (is_slice(at)) return at.frame->before;
    return {at.frame->task << mark_thread_bits, at.frame->carried, at.frame};
}

bool goes_on(const fiber_state& fiber, const resumer& at) noexcept {
    return at.frame != nullptr && !is_own(fiber, at);
}

// The tasks on the fiber's stack stop before the fiber does, innermost first.
void put_aside(fiber_state& fiber, std::uint32_t site) noexcept {
    fiber.inside = current_resumer();
    if (is_own(fiber, fiber.inside)) return;
    for (resumer at = fiber.inside; goes_on(fiber, at);) {
        const resumer below = beneath(at);
        if (is_slice(at) && is_recording())
            record_transition(*at.frame, record_kind::suspend, site, 0, task_of(below.mark));
        if (is_slice(at)) show(*at.frame, async_state::suspended, site);
        restore(below);
        at = below;
    }
    // A task that is suspending just now hides the tasks beneath it.
    if (is_task(fiber) && this_thread.frame != &fiber.task)
        restore({fiber.task.task << mark_thread_bits, fiber.task.carried, &fiber.task});
}

void take_up_one(const resumer& at) noexcept {
    const std::uint64_t previous = task_of(this_thread.mark);
    if (this_thread.carried != at.carried) rebind(at.carried);
    if (is_recording()) {
        const context_change under_way;
        if (is_slice(at)) {
            record_transition(*at.frame, record_kind::resume, 0, trace::resume_handed_over,
                              previous);
            repeat_carried(task_of(at.mark), at.carried);
        } else {
            record_context(at, previous);
        }
    }
    if (is_slice(at)) show(*at.frame, async_state::running, at.frame->await_site);
    restore(at);
}

// And goes on after it did, outermost first.
void take_up(fiber_state& fiber) noexcept {
    if (is_own(fiber, fiber.inside)) return;
    unsigned depth = 0;
    for (resumer at = fiber.inside; goes_on(fiber, at); at = beneath(at)) ++depth;
    if (depth == 0) restore(fiber.inside);
    for (; depth > 0; --depth) {
        resumer at = fiber.inside;
        for (unsigned above = 1; above < depth; ++above) at = beneath(at);
        take_up_one(at);
    }
}

// A thread counts the exceptions that are under way on it, on all stacks. While the fiber runs,
// `spare` is the number of those that are not the fiber's; while it does not run, the number of
// those that are. Each is the difference of the count and the other.
void swap_exceptions(fiber_state& fiber) noexcept {
    fiber.task.spare = static_cast<std::uint8_t>(std::uncaught_exceptions() - fiber.task.spare);
}

void leave_thread(fiber_state& fiber, const departure& leaving) noexcept {
    restore(leaving.before);
    swap_exceptions(fiber);
    fiber.left_ticks = leaving.ticks == 0 ? unknown_ticks : leaving.ticks;
    this_thread.fiber = fiber.outer;
    swap_stack_place(fiber.place);
}

bool runs_here(const fiber_state& fiber) noexcept {
    return (fiber.task.flags & task_installed) != 0;
}

std::uint64_t outermost_slice(const fiber_state& fiber) noexcept {
    std::uint64_t found = 0;
    for (resumer at = fiber.inside; goes_on(fiber, at); at = beneath(at))
        if (is_slice(at)) found = task_of(at.mark);
    return found;
}

// All work of the thread's own stack has been put aside: the thread runs no task.
void leave_own_stack(fiber_state& fiber, departure& leaving) noexcept {
    fiber.task.task = outermost_slice(fiber);
    set_flags(fiber.task, 0, task_installed);
    leaving.before = {0, 0, nullptr};
    leaving.ticks = is_recording() ? now() : 0;
}

void leave_for(fiber_state& fiber, std::uint32_t site) noexcept {
    if (!runs_here(fiber)) return;
    put_aside(fiber, site);
    departure leaving;
    if (is_task(fiber)) {
        fiber.task.await_site = site;
        suspend_active(fiber.task, leaving);
    } else {
        leave_own_stack(fiber, leaving);
    }
    leave_thread(fiber, leaving);
}

void write_wake(const fiber_state& fiber, fiber_waker by,
                const executor_place& scheduler) noexcept {
    const std::uint32_t executor = executor_number(find_place(scheduler));
    const bool yielded = by == fiber_waker::itself;
    const std::uint64_t ticks =
        yielded && fiber.left_ticks != unknown_ticks ? fiber.left_ticks : now();
    const std::uint64_t waker = yielded                      ? fiber.task.task
                                : by == fiber_waker::current ? task_of(this_thread.mark)
                                                             : 0;
    const std::uint64_t thread = this_thread.mark & mark_thread_mask;
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::wake, executor, thread), fiber.task.task,
                     waker);
}

// Ends the tasks that were suspended with the fiber, innermost first.
void end_inside(const fiber_state& fiber) noexcept {
    for (resumer at = fiber.inside; goes_on(fiber, at);) {
        const resumer below = beneath(at);
        const bool ours = is_slice(at) && (at.frame->flags & (task_any_frame | task_fiber)) == 0;
        if (ours) end_unwound(*at.frame);
        at = below;
    }
}

}  // namespace

void spawn_fiber(fiber_state& fiber, const void* location) noexcept {
    fiber.task.where = location;
    fiber.session = carried_session(this_thread.carried);
    set_flags(fiber.task, task_spawned | task_fiber);
    spawn_any(fiber.task, false);
    fiber.inside = {fiber.task.task << mark_thread_bits, 0, &fiber.task};
}

// Reads only constant members, because the fiber may be suspending on another thread. A fiber that
// yielded is made ready by the code that left it.
void wake_fiber(const fiber_state& fiber, fiber_waker waker,
                const executor_place& scheduler) noexcept {
    if (fiber.task.task == 0) return;
    const std::uint64_t carried = this_thread.carried;
    const bool foreign = fiber.session != 0 && carried_session(carried) != fiber.session;
    if (foreign)
        rebind(
            make_carried(static_cast<std::uint32_t>(fiber.session), carried_attributes(carried)));
    if (is_recording()) write_wake(fiber, waker, scheduler);
    if (foreign) rebind(carried);
}
void wake_fiber(const fiber_state& fiber, fiber_waker waker) noexcept {
    wake_fiber(fiber, waker, {});
}

void enter_fiber(fiber_state& fiber) noexcept {
    if (runs_here(fiber)) return;
    swap_stack_place(fiber.place);
    swap_exceptions(fiber);
    if (is_task(fiber))
        resume_fiber(fiber.task);
    else
        set_flags(fiber.task, task_installed);
    fiber.outer = this_thread.fiber;
    this_thread.fiber = &fiber;
    take_up(fiber);
}

void leave_fiber(fiber_state& fiber, const void* location) noexcept {
    leave_for(fiber, load_gate() == 0 ? 0 : await_site_id(location));
}
void leave_fiber(fiber_state& fiber, site& label) noexcept {
    leave_for(fiber, load_gate() == 0 ? 0 : await_site_id(label));
}
void leave_fiber(fiber_state& fiber, const char* library, const char* operation) noexcept {
    site* where = load_gate() == 0 ? nullptr : intern_operation(library, operation);
    leave_for(fiber, where == nullptr ? 0 : site_id(*where));
}

void finish_fiber(fiber_state& fiber, bool failed) noexcept {
    if (!runs_here(fiber)) return;
    put_aside(fiber, 0);
    set_flags(fiber.task, failed ? task_finished | task_exception : task_finished);
    departure leaving;
    finish_active(fiber.task, leaving);
    set_flags(fiber.task, 0, task_installed);
    leave_thread(fiber, leaving);
}

void drop_fiber(fiber_state& fiber) noexcept {
    if ((fiber.task.flags & task_finished) != 0) return;
    if (runs_here(fiber)) leave_for(fiber, 0);
    set_flags(fiber.task, task_finished);
    destroy_active(fiber.task);
}

// From here on scopes must not take the fast path, because a scope on this stack may have been open
// while the stack was suspended.
void adopt_thread(fiber_state& fiber) noexcept {
    const thread_record* record = register_thread(this_thread);
    if (record == nullptr) return;
    fiber.stack_low = record->stack_low;
    fiber.stack_bytes = record->stack_bytes;
    fiber.session = carried_session(this_thread.carried);
    fiber.outer = this_thread.fiber;
    this_thread.stack_bytes = 0;
    this_thread.fiber = &fiber;
    if (task_of(this_thread.mark) != 0) return set_flags(fiber.task, task_installed);
    set_flags(fiber.task, task_spawned | task_started | task_fiber);
    spawn_any(fiber.task, true);
}

bool release_thread(fiber_state& fiber) noexcept {
    const bool running = runs_here(fiber);
    if (is_task(fiber) && !is_own(fiber, running ? current_resumer() : fiber.inside)) return false;
    if (fiber.stack_bytes != 0) this_thread.stack_bytes = fast_stack_bytes(fiber.stack_bytes);
    if (is_task(fiber)) {
        running ? finish_fiber(fiber, false) : drop_fiber(fiber);
    } else if (running) {
        set_flags(fiber.task, 0, task_installed);
        this_thread.fiber = fiber.outer;
    }
    return true;
}

fiber_unwinding::fiber_unwinding(fiber_state& fiber) noexcept
    : fiber_(&fiber), before_(current_resumer()) {
    end_inside(fiber);
    swap_stack_place(fiber_->place);
}

fiber_unwinding::~fiber_unwinding() {
    swap_stack_place(fiber_->place);
    restore(before_);
}

}  // namespace coroscope::detail
