// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <utility>

#include "blocked_signals.hpp"
#include "clock.hpp"
#include "crash_report.hpp"
#include "devices.hpp"
#include "fake_stack.hpp"
#include "fault_record.hpp"
#include "kept_errno.hpp"
#include "live_tasks.hpp"
#include "observer_registry.hpp"
#include "own_threads.hpp"
#include "recorder.hpp"
#include "thread_exit.hpp"

namespace coroscope::detail {

// Used, because clang's link-time optimisation does not see the assembly that names it (here()).
__thread thread_state this_thread __attribute__((tls_model("initial-exec"), used));

}  // namespace coroscope::detail

namespace coroscope::runtime {
namespace {

using namespace detail;

constinit quiet_mutex mutex;
constinit thread_record* threads = nullptr;
constinit std::uint32_t last_thread_id = 0;
constinit pthread_key_t exit_key = 0;
constinit bool exit_key_made = false;

// Marks a thread that has left: its later scopes (from destructors of other thread-locals) find no
// record and count nothing.
constinit thread_record gone{};

// The same for one that must not read the counter, which the end of every scope does. Its gate stays unknown.
constinit thread_record refused{};
constinit fault_record refusals{
    "coroscope: a thread that may not read the processor's counter (PR_SET_TSC) is not recorded"};

bool is_registered(const thread_state& thread) noexcept {
    return thread.record != nullptr && thread.record != &gone && thread.record != &refused;
}

bool is_refused(thread_state& thread) noexcept {
    if (counter_may_be_read()) return false;
    thread.record = &refused;
    refusals.note();
    return true;
}

void leave_session(session& owner, binding& bound) noexcept {
    __atomic_store_n(&bound.body->last_ticks, current_ticks(), __ATOMIC_RELAXED);
    if (bound.chunk != nullptr) owner.store->hand_over(bound.chunk);
}

void leave_all_sessions(thread_record& record) noexcept {
    for (binding& bound : record.bindings) {
        const std::uint32_t generation = bound.generation.load(std::memory_order_relaxed);
        if (generation == 0) continue;
        const store_use use(record, generation);
        if (use.owner() != nullptr) leave_session(*use.owner(), bound);
        release_binding(bound);
    }
}

void on_thread_exit(void* data) noexcept {
    if (resumes_at_exit() && pthread_setspecific(exit_key, data) == 0)
        return;  // called again, after that
    auto& record = *static_cast<thread_record*>(data);
    thread_state& thread = *record.state;
    leave_all_sessions(record);
    drop_observer_cache(record);
    drop_outermost(record);
    take_signal_stack(record);
    const std::lock_guard lock(mutex);
    thread.cursor = no_place();
    __atomic_store_n(&thread.limit, nullptr, __ATOMIC_RELAXED);
    __atomic_store_n(&thread.gate, live_gate(), __ATOMIC_RELAXED);
    thread.record = &gone;
    for (thread_record** at = &threads; *at != nullptr; at = &(*at)->next) {
        if (*at != &record) continue;
        *at = record.next;
        break;
    }
    delete &record;
}

// May the stack of the process's first thread grow without a limit, or with one that the kernel keeps no room for?
bool may_grow_for_ever(const thread_record& record) noexcept {
    if (record.os_id != static_cast<std::uint32_t>(::getpid())) return false;
    constexpr std::uint64_t believable = std::uint64_t{1} << 40;
    rlimit limit{};
    return ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur > believable;
}

// Of such a stack the C library says that it is all that is free now beneath it: terabytes that begin where the heap ends,
// and into which that grows. Frames of coroutines there would be taken for calls. What is certainly no heap is what lies
// little below a call that runs. With such a limit the kernel keeps most of the address space beneath the stack free of
// mappings, and the heap begins near the program, a third of it away. Where the limit was raised since the program
// began, the answer ends at the topmost mapping, and further ones are placed beneath that. If the stack grows past the
// bound, scopes down there are taken for those of frames: running time is then shown as waiting, never the other way.
void bound_stack(thread_record& record) noexcept {
    constexpr std::uintptr_t most_below = std::uintptr_t{64} << 20;
    const std::uintptr_t top = record.stack_low + record.stack_bytes;
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (here - record.stack_low >= record.stack_bytes) here = top;  // on a stack of somebody's own
    if (here - record.stack_low > most_below) record.stack_low = here - most_below;
    record.stack_bytes = top - record.stack_low;
}

void find_stack(thread_record& record) noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* low = nullptr;
    std::size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        record.stack_low = reinterpret_cast<std::uintptr_t>(low);
        record.stack_bytes = bytes;
        if (may_grow_for_ever(record)) bound_stack(record);
    }
    pthread_attr_destroy(&attributes);
}

// Under the lock: what the gate must show of what concerns all threads.
std::int32_t global_gate() noexcept {
    const session* all = find_session(global_generation().load(std::memory_order_relaxed));
    const bool collecting = all != nullptr && all->collecting.load(std::memory_order_relaxed);
    return live_gate() | observer_gate() | (!collecting ? 0 : gate_global | session_gate(*all));
}

std::uint32_t kernel_thread_id() noexcept {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

}  // namespace

std::uint64_t careful_now() noexcept {
    // The C library's clock reads the counter, too.
    return register_thread(this_thread) != nullptr ? current_ticks() : 0;
}

quiet_mutex& registry_mutex() noexcept { return mutex; }
thread_record* first_thread() noexcept { return threads; }

thread_record* register_thread(thread_state& thread) noexcept {
    if (thread.record != nullptr) return is_registered(thread) ? thread.record : nullptr;
    if (is_refused(thread)) return nullptr;
    const kept_errno programs;
    // A handler's scope would register it, too, and the C library holds a lock of the thread's in find_stack().
    const blocked_signals meanwhile;
    if (thread.record != nullptr) return thread.record;
    auto* record = new (std::nothrow) thread_record;
    if (record == nullptr) return nullptr;
    record->state = &thread;
    record->os_id = kernel_thread_id();
    find_stack(*record);
    const std::lock_guard lock(mutex);
    if (!exit_key_made) exit_key_made = pthread_key_create(&exit_key, on_thread_exit) == 0;
    if (!exit_key_made || pthread_setspecific(exit_key, record) != 0) {
        delete record;  // nobody would tell us of the thread's end
        return nullptr;
    }
    record->id = ++last_thread_id;
    record->next = threads;
    threads = record;
    thread.record = record;
    thread.mark = trace::make_mark(thread.mark >> trace::mark_thread_bits, record->id);
    thread.stack_low = record->stack_low;
    // Without a counter, or where scopes may lie beside the stack that they belong to, the fast path must not be taken: no
    // scope is ever on a stack of no bytes.
    const bool is_usual = tick_source() != trace::clock_source::monotonic_ns && !has_fake_stacks();
    thread.stack_bytes = is_usual ? record->stack_bytes : 0;
    __atomic_store_n(&thread.gate, global_gate(), __ATOMIC_RELAXED);
    return record;
}

// A generation's slot in the table is given up under the same lock.
void release_binding(binding& bound) noexcept {
    const std::lock_guard lock(mutex);
    const std::uint32_t generation = bound.generation.load(std::memory_order_relaxed);
    for (session* each = session_table(); each != session_table() + session_slots; ++each)
        if (each->generation.load(std::memory_order_acquire) == generation)
            each->departed_losses.fetch_add(bound.lost.load(std::memory_order_relaxed),
                                            std::memory_order_relaxed);
    bound.generation.store(0, std::memory_order_release);  // pairs with whoever looks for holders
}

void set_limit(thread_state& thread, char* limit) noexcept {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread.limit, limit, __ATOMIC_SEQ_CST);  // pairs with cut_off()
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Others write nothing but null, too: what they see of it does not matter.
void clear_limit(thread_state& thread) noexcept {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread.limit, nullptr, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

namespace {

// A handler's record meanwhile finds no room, and may make none: else it would hold the next cursor against the old limit.
void leave_binding(thread_state& thread) noexcept {
    thread_record& record = *thread.record;
    const void* refilling = std::exchange(record.refilling, __builtin_frame_address(0));
    clear_limit(thread);
    if (record.current != nullptr) record.current->cursor = thread.cursor;
    record.current = nullptr;
    thread.bound_session = 0;
    thread.cursor = no_place();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    record.refilling = refilling;
}

}  // namespace

void update_gate(thread_state& thread) noexcept {
    if (register_thread(thread) == nullptr) return;
    const session* own = find_session(carried_session(thread.carried));
    const bool collecting = own != nullptr && own->collecting.load(std::memory_order_acquire);
    const std::int32_t before = load_gate();
    if (collecting) {
        change_gate(thread, gate_local | session_gate(*own), 0);
    } else {
        change_gate(thread, 0, gate_local);
    }
    if (((before | load_gate()) & gate_devices) != 0) follow_current_task();
    if (own == nullptr) own = find_session(global_generation().load(std::memory_order_acquire));
    if (own != nullptr && own->generation.load(std::memory_order_relaxed) == thread.bound_session)
        return;
    leave_binding(thread);
}

void reset_after_fork() noexcept {
    forget_sessions();
    forget_crashes();
    forget_devices();
    own_thread::forget_all();
    thread_state& thread = this_thread;
    threads = is_registered(thread) ? thread.record : nullptr;
    if (threads != nullptr) {
        threads->next = nullptr;
        threads->os_id = kernel_thread_id();
        threads->busy.store(0, std::memory_order_relaxed);
        for (binding& bound : threads->bindings)
            bound.generation.store(0, std::memory_order_relaxed);
        threads->current = nullptr;
    }
    thread.bound_session = 0;
    thread.cursor = no_place();
    __atomic_store_n(&thread.limit, nullptr, __ATOMIC_RELAXED);
    const bool unknown = thread.record == nullptr || thread.record == &refused;
    __atomic_store_n(&thread.gate, unknown ? gate_unknown : global_gate(), __ATOMIC_RELAXED);
}

}  // namespace coroscope::runtime
