// SPDX-License-Identifier: Apache-2.0
#include "asio_cancel.hpp"

#include <atomic>
#include <bit>

#include <coroscope/integration/asio_wake.hpp>

#include "asio_innermost.hpp"
#include "asio_tasks.hpp"

namespace coroscope::asio {

namespace {

// A cancellation of the operations on an object, or of the awaits of a task.
struct cancellation {
    std::uint64_t key = 0;
    std::uint64_t ticks = 0;
    std::uint64_t waker = 0;  // mark
    // Of the step of the waker's own await that cancels; 0: no step.
    std::uint64_t wake = 0;    // as operation_state::wake
    std::uint64_t serial = 0;  // of that await
};

constexpr std::uint64_t key_of_task(std::uint64_t task) noexcept {
    return task | std::uint64_t{1} << 63;  // no address of an object
}

// The last cancellation whose key belongs to this slot. If two threads write at once, the check
// tells a reader that the words do not belong together; the wake is then unknown.
class cancellation_slot {
public:
    void keep(const cancellation& kept) noexcept {
        key_.store(kept.key, std::memory_order_relaxed);
        ticks_.store(kept.ticks, std::memory_order_relaxed);
        waker_.store(kept.waker, std::memory_order_relaxed);
        wake_.store(kept.wake, std::memory_order_relaxed);
        serial_.store(kept.serial, std::memory_order_relaxed);
        check_.store(check_of(kept), std::memory_order_relaxed);
    }

    [[nodiscard]] bool find(std::uint64_t key, cancellation& found) const noexcept {
        found.key = key_.load(std::memory_order_relaxed);
        found.ticks = ticks_.load(std::memory_order_relaxed);
        found.waker = waker_.load(std::memory_order_relaxed);
        found.wake = wake_.load(std::memory_order_relaxed);
        found.serial = serial_.load(std::memory_order_relaxed);
        return found.key == key && check_.load(std::memory_order_relaxed) == check_of(found);
    }

private:
    static constexpr std::uint64_t check_of(const cancellation& of) noexcept {
        return of.key ^ std::rotl(of.ticks, 1) ^ std::rotl(of.waker, 23) ^ std::rotl(of.wake, 41) ^
               std::rotl(of.serial, 53);
    }

    std::atomic<std::uint64_t> key_{0};
    std::atomic<std::uint64_t> ticks_{0};
    std::atomic<std::uint64_t> waker_{0};
    std::atomic<std::uint64_t> wake_{0};
    std::atomic<std::uint64_t> serial_{0};
    std::atomic<std::uint64_t> check_{0};
};

constinit cancellation_slot recent[1024];

cancellation_slot& slot_of(std::uint64_t key) noexcept {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;
    return recent[key * spread >> 54];
}

// Called if a step of the task's own await cancels.
void keep_step(std::uint64_t key, const purpose& step, std::uint64_t wake) noexcept {
    const std::uint64_t ticks = now();
    const bool known = wake != 0 && (wake & wake_cancelled) == 0;
    slot_of(key).keep(
        {key, ticks, mark_here(step.task), known ? wake : ticks, std::uint64_t{step.serial()}});
}

// Called if no task runs. The canceller is the task whose await goes on in the frame, or whose
// result is on its way.
[[gnu::noinline]] void keep_in_frame(std::uint64_t key) noexcept {
    const innermost inside;
    const purpose& whose = inside->whose;
    if (whose.has_task() && whose.is(purpose_step | purpose_carrying))
        return keep_step(key, whose, inside->wake);
    const bool back = whose.is(purpose_back);
    slot_of(key).keep({key, now(), mark_here(back ? task_of(inside->waker) : 0), 0, 0});
}

void keep(std::uint64_t key) noexcept {
    if (load_gate() == 0) return;
    if (current_task() == 0) return keep_in_frame(key);
    slot_of(key).keep({key, now(), this_thread.mark, 0, 0});
}

// If a step of the task's own await ended another step, the task has been ready since the first
// step was. Any other cancellation by the task itself came before its suspension.
void write_own_wake(tracked_task& woken, const cancellation& found) noexcept {
    if (found.wake == 0 || found.serial != woken.serial) return;
    if (char* at = reserve_for(woken))
        fill_wake(take_reserved(at, long_record_bytes), found.wake,
                  found.waker & detail::mark_thread_mask, woken.task, 0);
}

void write_wake(tracked_task& woken, std::uint64_t key) noexcept {
    cancellation found;
    if (!slot_of(key).find(key, found)) return;
    if (task_of(found.waker) == woken.task) return write_own_wake(woken, found);
    const std::uint64_t thread = found.waker & detail::mark_thread_mask;
    if (char* at = reserve_for(woken))
        write_record(at, found.ticks,
                     make_tag(record_kind::wake, 0, thread | std::uint64_t{trace::wake_cancel}),
                     woken.task, task_of(found.waker));
}

}  // namespace

void cancels_operations(const void* object) noexcept {
    keep(reinterpret_cast<std::uintptr_t>(object));
}

void cancels_awaits(std::uint64_t task) noexcept { keep(key_of_task(task)); }

void times_out(const operation_state& timer) noexcept {
    const purpose& whose = timer.whose;
    if (load_gate() != 0 && whose.has_task() && whose.is(purpose_step | purpose_carrying))
        keep_step(key_of_task(whose.task), whose, timer.wake);
}

void write_cancel_wakes(tracked_task& woken, std::uint64_t object) noexcept {
    write_wake(woken, object);
    write_wake(woken, key_of_task(woken.task));
}

}  // namespace coroscope::asio
