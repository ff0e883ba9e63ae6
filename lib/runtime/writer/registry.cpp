// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <new>
#include <utility>

#include "../base/blocked_signals.hpp"
#include "../base/clock.hpp"
#include "../base/compiler_barrier.hpp"
#include "../base/fake_stack.hpp"
#include "../base/fault_record.hpp"
#include "../base/forks.hpp"
#include "../base/kept_errno.hpp"
#include "signal_stack.hpp"
#include "thread_guests.hpp"

namespace coroscope::runtime::inline writer {
namespace {

using namespace detail;

constinit pthread_key_t exit_key = 0;
constinit bool exit_key_made = false;
constinit std::atomic<void (*)() noexcept> put_off{nullptr};  // start_at_first_record()

// Values of thread_state::record for a thread without a record of its own. They are in one array,
// so that one comparison distinguishes them from a record.
constinit thread_record marks[4]{};

// The thread has left. Its later scopes, from destructors of other keys, are counted. Its gate
// stays unknown.
constexpr thread_record* gone = &marks[0];

// The thread is being registered. The C library may call the program's own malloc meanwhile: its
// scopes are counted.
constexpr thread_record* beginning = &marks[1];

// The thread is one of ours. It runs no code of the program except the program's malloc. Its gate
// stays closed.
constexpr thread_record* unobserved = &marks[2];

// The thread must not read the counter, which the end of every scope does. Its gate stays unknown.
constexpr thread_record* refused = &marks[3];
constinit fault_record refusals{
    "coroscope: a thread that may not read the processor's counter (PR_SET_TSC) is not recorded"};

// The call of the exit key's destructor in which a thread leaves at the latest.
constexpr int last_exit_call = 3;

bool has_record(const thread_state& thread) noexcept {
    const auto behind_first =
        reinterpret_cast<std::uintptr_t>(thread.record) - reinterpret_cast<std::uintptr_t>(marks);
    return thread.record != nullptr && behind_first >= sizeof marks;
}

bool is_refused(thread_state& thread) noexcept {
    if (counter_may_be_read()) return false;
    thread.record = refused;
    refusals.note();
    return true;
}

}  // namespace

// Meanwhile a record of a signal handler finds no room, and may make none: else it would compare
// the next cursor with the old limit.
void leave_binding(thread_state& thread, thread_record& record) noexcept {
    const void* refilling = std::exchange(record.refilling, __builtin_frame_address(0));
    clear_limit(thread);
    if (record.current != nullptr) record.current->cursor = thread.cursor;
    record.current = nullptr;
    thread.bound_session = 0;
    thread.cursor = no_place();
    compiler_barrier();
    record.refilling = refilling;
}

namespace {

// The gate of a thread without a record. It has the bit of live tasks, too.
std::int32_t unregistered_gate() noexcept { return gate_unknown | (standing_gate() & gate_live); }

// From here on the thread's scopes are counted as lost. This includes scopes in the program's
// free(), which frees the record.
void stop_recording(thread_state& thread) noexcept {
    thread.record = gone;
    clear_limit(thread);
    __atomic_store_n(&thread.gate, unregistered_gate(), __ATOMIC_RELAXED);
}

// Removes the record from the list of threads. Others may have changed the thread's gate until
// then.
void unlist(thread_record& record) noexcept {
    const std::lock_guard lock(registry_mutex());
    __atomic_store_n(&record.state->gate, unregistered_gate(), __ATOMIC_RELAXED);
    unlist_thread(record);
}

void leave_session(session& owner, binding& bound) noexcept {
    __atomic_store_n(&bound.body->last_ticks, current_ticks(), __ATOMIC_RELAXED);
    owner.store->leave({bound.chunk, bound.begin}, bound.cursor);
}

// A record of a signal handler finds no room until the bindings are released. If a handler ended
// the thread while it changed a chunk, the chunk may belong to another thread now, and the end of
// the session seals it.
void leave_all_sessions(thread_record& record) noexcept {
    const bool in_order = std::exchange(record.refilling, __builtin_frame_address(0)) == nullptr;
    leave_binding(*record.state, record);
    for (binding& bound : record.bindings) {
        const std::uint32_t generation = bound.generation.load(std::memory_order_relaxed);
        if (generation == 0) continue;
        if (!in_order) bound.chunk = nullptr;
        const store_use use(record, generation);
        if (use.owner() != nullptr) leave_session(*use.owner(), bound);
        release_binding(bound);
    }
    compiler_barrier();
    record.refilling = nullptr;
}

// The C library calls the destructors of a thread's keys in up to four rounds, as long as a
// destructor sets its key again. The order within a round is unspecified. Sanitizers end their
// support of a thread in the last round, and the thread's state is destroyed after it, so the
// record must be gone by then. The thread leaves at the second call, so that scopes in the first
// round of the program's destructors are recorded. It leaves at the third call if coroutines are
// still to be resumed. A thread that registers in a destructor gets its first call in a later
// round.
bool stays_for_another_round(thread_record& record) noexcept {
    const int last =
        any_guest<&thread_guest::resumes_at_exit>() ? last_exit_call : last_exit_call - 1;
    return ++record.exit_calls < last && pthread_setspecific(exit_key, &record) == 0;
}

void on_thread_exit(void* data) noexcept {
    auto& record = *static_cast<thread_record*>(data);
    if (stays_for_another_round(record)) return;
    stop_recording(*record.state);
    leave_all_sessions(record);
    tell_guests<&thread_guest::leave>(record);
    if (record.drop_outermost != nullptr) record.drop_outermost(record);
    take_signal_stack(record);
    unlist(record);
    delete &record;  // without the lock: the program's free() may have a scope
}

// Returns whether the stack of the process's first thread may grow without a limit, or with a limit
// for which the kernel reserves no addresses.
bool may_grow_for_ever(const thread_record& record) noexcept {
    if (record.os_id != static_cast<std::uint32_t>(::getpid())) return false;
    constexpr std::uint64_t believable = std::uint64_t{1} << 40;
    rlimit limit{};
    return ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur > believable;
}

// The C library reports such a stack as all the free address space beneath it: terabytes that begin
// at the end of the heap, into which the heap grows. Frames of coroutines on the heap would then
// look like calls. Addresses little below a running call are certainly not on the heap: with such a
// limit the kernel keeps most of the address space beneath the stack free of mappings, and the heap
// begins near the program, a third of the address space away. If the limit was raised after the
// program began, the reported stack ends at the topmost mapping, and further mappings are placed
// beneath that one. If the stack grows past this bound, scopes down there look like scopes in
// frames: running time is then shown as waiting, never the other way.
void bound_stack(thread_record& record) noexcept {
    constexpr std::uintptr_t most_below = std::uintptr_t{64} << 20;
    const std::uintptr_t top = record.stack_low + record.stack_bytes;
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (here - record.stack_low >= record.stack_bytes)
        here = top;  // on a stack of the program's own
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

bool make_exit_key() noexcept {
    const std::lock_guard lock(registry_mutex());
    if (!exit_key_made) exit_key_made = pthread_key_create(&exit_key, on_thread_exit) == 0;
    return exit_key_made;
}

std::uint32_t kernel_thread_id() noexcept {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

// Returns null if memory is short, or if no destructor could be set for the thread's end.
thread_record* make_record(thread_state& thread) noexcept {
    auto* record = new (std::nothrow) thread_record;
    if (record == nullptr) return nullptr;
    record->state = &thread;
    record->os_id = kernel_thread_id();
    find_stack(*record);
    if (any_guest<&thread_guest::resumed_at_exit>()) record->exit_calls = last_exit_call;
    if (make_exit_key() && pthread_setspecific(exit_key, record) == 0) return record;
    delete record;
    return nullptr;
}

// The gate's bits that concern all threads. The caller must hold the lock.
std::int32_t global_gate() noexcept {
    const session* all = find_session(global_generation().load(std::memory_order_relaxed));
    const bool collecting = all != nullptr && all->collecting.load(std::memory_order_relaxed);
    return standing_gate() | (!collecting ? 0 : gate_global | session_gate(*all));
}

// The record of a thread that has one. After a fork its gate is unknown, until it records.
thread_record* known(thread_state& thread) noexcept {
    if (!has_record(thread)) return nullptr;
    constexpr std::int32_t unknown = gate_unknown & ~gate_careful;
    if ((__atomic_load_n(&thread.gate, __ATOMIC_RELAXED) & unknown) != 0)
        change_gate(thread, 0, unknown);
    return thread.record;
}

thread_record* add(thread_state& thread) noexcept {
    if (is_refused(thread)) return nullptr;
    const kept_errno programs;
    // A handler's scope would register it, too, and the C library holds a lock of the thread's in
    // find_stack().
    const blocked_signals meanwhile;
    if (thread.record != nullptr) return has_record(thread) ? thread.record : nullptr;
    thread.record = beginning;
    compiler_barrier();
    thread_record* record = make_record(thread);
    const std::lock_guard lock(registry_mutex());
    thread.record = record;
    if (record == nullptr) return nullptr;
    list_thread(*record);
    thread.mark = trace::make_mark(thread.mark >> trace::mark_thread_bits, record->id);
    thread.stack_low = record->stack_low;
    thread.stack_bytes = fast_stack_bytes(record->stack_bytes);
    __atomic_store_n(&thread.gate, global_gate(), __ATOMIC_RELAXED);
    return record;
}

}  // namespace

// Without a counter, or if scopes may lie outside of the stack that they belong to, the fast path
// must not be taken. The size 0 ensures that: no scope is on a stack of no bytes.
std::uintptr_t fast_stack_bytes(std::uintptr_t bytes) noexcept {
    const bool is_usual = tick_source() != trace::clock_source::monotonic_ns && !has_fake_stacks();
    return is_usual ? bytes : 0;
}

void start_at_first_record(void (*start)() noexcept) noexcept {
    put_off.store(start, std::memory_order_relaxed);
}

void start_what_was_put_off() noexcept {
    if (put_off.load(std::memory_order_relaxed) == nullptr) return;
    const kept_errno programs;
    void (*const start)() noexcept = put_off.exchange(nullptr, std::memory_order_relaxed);
    if (start != nullptr) start();
}

thread_record* register_thread(thread_state& thread) noexcept {
    thread_record* const record = thread.record != nullptr ? known(thread) : add(thread);
    if (record != nullptr) start_what_was_put_off();
    return record;
}

void leave_thread_unobserved() noexcept {
    this_thread.record = unobserved;
    __atomic_store_n(&this_thread.gate, 0, __ATOMIC_RELAXED);
}

allocating_lock::allocating_lock() noexcept
    : record_(has_record(this_thread) ? this_thread.record : nullptr) {
    registry_mutex().lock();
    if (record_ != nullptr) before_ = std::exchange(record_->refilling, this);
}

allocating_lock::~allocating_lock() {
    if (record_ != nullptr) record_->refilling = before_;
    registry_mutex().unlock();
}

context_change::context_change() noexcept : record_(register_thread(this_thread)) {
    if (record_ != nullptr) before_ = std::exchange(record_->told.nothing, true);
}

context_change::~context_change() {
    if (record_ != nullptr) record_->told.nothing = before_;
}

bool goes_unrecorded(const thread_state& thread) noexcept {
    return thread.record == nullptr || thread.record == gone || thread.record == beginning;
}

void release_binding(binding& bound) noexcept {
    const std::lock_guard lock(registry_mutex());
    end_binding(bound);
}

void set_limit(thread_state& thread, char* limit) noexcept {
    compiler_barrier();
    __atomic_store_n(&thread.limit, limit, __ATOMIC_SEQ_CST);  // pairs with cut_off()
    compiler_barrier();
}

// Relaxed, because other threads write nothing but null, too.
void clear_limit(thread_state& thread) noexcept {
    compiler_barrier();
    __atomic_store_n(&thread.limit, nullptr, __ATOMIC_RELAXED);
    compiler_barrier();
}

namespace {

// Forgets this thread's bindings to the sessions of the parent process.
void forget_bindings(thread_record& record) noexcept {
    record.busy.store(0, std::memory_order_relaxed);
    for (binding& bound : record.bindings) bound.generation.store(0, std::memory_order_relaxed);
    record.current = nullptr;
}

// Called in a forked child. Forgets all threads but this one.
void reset_after_fork() noexcept {
    thread_state& thread = this_thread;
    thread_record* const record = has_record(thread) ? thread.record : nullptr;
    unlist_all_but(record);
    if (record != nullptr) {
        record->os_id = kernel_thread_id();
        forget_bindings(*record);
        tell_guests<&thread_guest::after_fork>(*record);
    }
    thread.bound_session = 0;
    thread.cursor = no_place();
    __atomic_store_n(&thread.limit, nullptr, __ATOMIC_RELAXED);
    const bool put_off_here = put_off.load(std::memory_order_relaxed) != nullptr;
    __atomic_store_n(&thread.gate,
                     record == nullptr ? gate_unknown
                     : put_off_here    ? global_gate() | gate_unknown
                                       : global_gate(),
                     __ATOMIC_RELAXED);
}

constinit fork_guest registry_around_forks{.rank = fork_rank::registry,
                                           .in_child = reset_after_fork};
[[gnu::constructor(101)]] void join_registry() noexcept { join_forks(registry_around_forks); }

}  // namespace
}  // namespace coroscope::runtime::inline writer
