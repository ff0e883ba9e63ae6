// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "clock.hpp"
#include "crash_report.hpp"
#include "devices.hpp"
#include "live_tasks.hpp"
#include "observer_registry.hpp"
#include "recorder.hpp"
#include "thread_exit.hpp"

namespace coroscope::detail {

__thread thread_state this_thread __attribute__((tls_model("initial-exec")));

}  // namespace coroscope::detail

namespace coroscope::runtime {
namespace {

using namespace detail;

constinit session sessions[session_slots];
constinit std::mutex mutex;
constinit thread_record* threads = nullptr;
constinit std::uint32_t last_thread_id = 0;
constinit std::atomic<std::uint32_t> global{0};
constinit pthread_key_t exit_key = 0;
constinit bool exit_key_made = false;

// Marks a thread that has left: its later scopes (from destructors of other thread-locals) find no
// record and count nothing.
constinit thread_record gone{};

void leave_session(session& owner, binding& bound) noexcept {
    __atomic_store_n(&bound.body->last_ticks, current_ticks(), __ATOMIC_RELAXED);
    owner.departed_losses.fetch_add(__atomic_load_n(&bound.body->dropped_newest, __ATOMIC_RELAXED),
                                    std::memory_order_relaxed);
    if (bound.chunk != nullptr) owner.store->hand_over(bound.chunk);
}

void leave_all_sessions(thread_record& record) noexcept {
    for (binding& bound : record.bindings) {
        const std::uint32_t generation = bound.generation.load(std::memory_order_relaxed);
        if (generation == 0) continue;
        const store_use use(record, generation);
        if (use.owner() != nullptr) leave_session(*use.owner(), bound);
        bound.generation.store(0, std::memory_order_release);  // pairs with whoever looks for holders
    }
}

void on_thread_exit(void* data) noexcept {
    if (resumes_at_exit() && pthread_setspecific(exit_key, data) == 0) return;  // called again, after that
    auto& record = *static_cast<thread_record*>(data);
    thread_state& thread = *record.state;
    leave_all_sessions(record);
    drop_observer_cache(record);
    take_signal_stack(record);
    const std::lock_guard lock(mutex);
    thread.cursor = nullptr;
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

void find_stack(thread_record& record) noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* low = nullptr;
    std::size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        record.stack_low = reinterpret_cast<std::uintptr_t>(low);
        record.stack_bytes = bytes;
    }
    pthread_attr_destroy(&attributes);
}

// Under the lock: what the gate must show of what concerns all threads.
std::int32_t global_gate() noexcept {
    const session* all = find_session(global.load(std::memory_order_relaxed));
    const bool collecting = all != nullptr && all->collecting.load(std::memory_order_relaxed);
    return live_gate() | observer_gate() | (!collecting ? 0 : gate_global | session_gate(*all));
}

std::uint32_t kernel_thread_id() noexcept {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

trace::thread_body describe_thread(const thread_record& record) noexcept {
    trace::thread_body body{};
    body.os_thread_id = record.os_id;
    prctl(PR_GET_NAME, body.name);
    return body;
}

// A free binding, or one whose session is over; never the current one unless it is over, too.
binding* free_binding(thread_record& record) noexcept {
    for (binding& bound : record.bindings) {
        const std::uint32_t generation = bound.generation.load(std::memory_order_relaxed);
        if (generation == 0) return &bound;
        if (find_session(generation) == nullptr) return &bound;
    }
    return nullptr;
}

binding* bind(thread_state& thread, session& owner, std::uint32_t generation) noexcept {
    thread_record& record = *thread.record;
    for (binding& bound : record.bindings) {
        if (bound.generation.load(std::memory_order_relaxed) == generation) return &bound;
    }
    binding* bound = free_binding(record);
    if (bound == nullptr) return nullptr;
    trace::thread_body* body =
        owner.store->append_thread(current_ticks(), record.id, describe_thread(record));
    if (body == nullptr) return nullptr;
    bound->owner = &owner;
    bound->chunk = nullptr;
    bound->cursor = nullptr;
    bound->body = body;
    bound->generation.store(generation, std::memory_order_release);
    if (owner.reports_crashes.load(std::memory_order_relaxed)) give_signal_stack(record);
    return bound;
}

void set_cursor(thread_state& thread, char* cursor, char* limit) noexcept {
    thread.cursor = cursor;
    __atomic_store_n(&thread.limit, limit, __ATOMIC_SEQ_CST);  // pairs with cut_off()
}

char* chunk_end(const session& owner, trace::chunk_header* chunk) noexcept {
    return reinterpret_cast<char*>(chunk) + owner.store->chunk_bytes();
}

void select_binding(thread_state& thread, binding& bound, std::uint32_t generation) noexcept {
    thread_record& record = *thread.record;
    if (record.current == &bound && thread.bound_session == generation) return;
    if (record.current != nullptr && record.current != &bound) record.current->cursor = thread.cursor;
    record.current = &bound;
    thread.bound_session = generation;
    thread.cursor = bound.cursor;
}

// In a signal handler the cursor may stand behind the chunk's end, by a record that the interrupted scope
// took and has not given back yet.
bool has_room(const thread_state& thread, const binding& bound, std::size_t bytes) noexcept {
    if (bound.chunk == nullptr) return false;
    const auto written =
        static_cast<std::size_t>(thread.cursor - reinterpret_cast<char*>(bound.chunk));
    const std::size_t room = bound.owner->store->chunk_bytes();
    return written <= room && room - written >= bytes;
}

// After a switch of collection the reader must be told who runs: the next chunk says it.
void leave_chunk_after_toggle(session& owner, binding& bound) noexcept {
    const std::uint32_t toggles = owner.toggles.load(std::memory_order_acquire);
    if (bound.toggles == toggles) return;
    bound.toggles = toggles;
    if (bound.chunk != nullptr) owner.store->hand_over(bound.chunk);
    bound.chunk = nullptr;
    bound.cursor = nullptr;
}

// A new chunk for the binding; false when there is none.
bool take_chunk(thread_state& thread, binding& bound) noexcept {
    chunk_store& store = *bound.owner->store;
    if (bound.chunk != nullptr) store.hand_over(bound.chunk);
    const std::uint64_t before = current_ticks();
    bound.chunk = store.acquire(thread.record->id, bound.body, thread.mark >> trace::mark_thread_bits, before);
    if (store.policy() == trace::overflow_policy::wait)
        __atomic_fetch_add(&bound.body->waited_ticks, current_ticks() - before, __ATOMIC_RELAXED);
    thread.cursor = nullptr;
    if (bound.chunk == nullptr) return false;
    thread.cursor = reinterpret_cast<char*>(bound.chunk) + trace::chunk_header_bytes;
    return true;
}

void count_lost(thread_state& thread, session* owner, binding* bound, unsigned records) noexcept {
    if (owner != nullptr && !owner->collecting.load(std::memory_order_relaxed)) records = 0;
    if (owner == nullptr || !owner->live.load(std::memory_order_relaxed)) {
        if (owner != nullptr) owner->late_records.fetch_add(records, std::memory_order_relaxed);
    } else if (bound != nullptr) {
        __atomic_fetch_add(&bound->body->dropped_newest, records, __ATOMIC_RELAXED);
    } else {
        owner->lost_records.fetch_add(records, std::memory_order_relaxed);
    }
    set_cursor(thread, thread.cursor, nullptr);
}

// The session that the cursor belonged to, for counting what came too late for it.
session* last_session(const thread_state& thread) noexcept {
    for (session& each : sessions) {
        if (thread.bound_session != 0 && each.generation.load(std::memory_order_relaxed) == thread.bound_session)
            return &each;
    }
    return nullptr;
}

char* refill_in(thread_state& thread, session& owner, std::uint32_t generation, std::size_t bytes,
                unsigned records) noexcept {
    binding* bound = bind(thread, owner, generation);
    if (bound == nullptr) {
        __atomic_fetch_add(&owner.store->header().lost_records, records, __ATOMIC_RELAXED);
        return nullptr;
    }
    leave_chunk_after_toggle(owner, *bound);
    select_binding(thread, *bound, generation);
    const bool room = has_room(thread, *bound, bytes) ||
                      (take_chunk(thread, *bound) && has_room(thread, *bound, bytes));
    if (!room) {
        count_lost(thread, &owner, bound, records);
        return nullptr;
    }
    set_cursor(thread, thread.cursor, chunk_end(owner, bound->chunk) - limit_distance);
    if (owner.live.load(std::memory_order_seq_cst) &&
        owner.collecting.load(std::memory_order_seq_cst))
        return thread.cursor;  // pairs with cut_off()
    count_lost(thread, &owner, bound, records);
    return nullptr;
}

char* refill_sized(thread_state& thread, std::size_t bytes, unsigned records) noexcept {
    if (!is_recording() && thread.bound_session == 0)
        return nullptr;  // nobody records, nothing is lost
    thread_record* record = register_thread(thread);
    const std::uint32_t generation = effective_generation(thread);
    if (record == nullptr || record->refilling) {
        session* owner = find_session(generation);
        if (owner != nullptr) owner->lost_records.fetch_add(records, std::memory_order_relaxed);
        return nullptr;
    }
    if (generation == 0) {
        count_lost(thread, last_session(thread), nullptr, records);
        update_gate(thread);
        return nullptr;
    }
    record->refilling = true;
    char* cursor = nullptr;
    {
        const store_use use(*record, generation);
        if (use.owner() != nullptr)
            cursor = refill_in(thread, *use.owner(), generation, bytes, records);
        else
            count_lost(thread, last_session(thread), nullptr, records);
    }
    record->refilling = false;
    return cursor;
}

}  // namespace

std::uint64_t careful_now() noexcept {
    register_thread(this_thread);
    return tick_source() == trace::clock_source::monotonic_ns ? monotonic_ticks() : counter_ticks();
}

session* session_table() noexcept { return sessions; }
std::mutex& registry_mutex() noexcept { return mutex; }
thread_record* first_thread() noexcept { return threads; }
std::atomic<std::uint32_t>& global_generation() noexcept { return global; }

session* find_session(std::uint32_t generation) noexcept {
    if (generation == 0) return nullptr;
    for (session& each : sessions) {
        if (each.generation.load(std::memory_order_acquire) == generation &&
            each.live.load(std::memory_order_acquire))
            return &each;
    }
    return nullptr;
}

bool is_enabled(const thread_state& thread) noexcept {
    return find_session(carried_session(thread.carried)) != nullptr ||
           find_session(global.load(std::memory_order_acquire)) != nullptr || observer_holds_slot();
}

// A context's own session wins, also while its collection is switched off.
std::uint32_t effective_generation(const thread_state& thread) noexcept {
    std::uint32_t generation = carried_session(thread.carried);
    const session* found = find_session(generation);
    if (found == nullptr) {
        generation = global.load(std::memory_order_acquire);
        found = find_session(generation);
    }
    return found != nullptr && found->collecting.load(std::memory_order_acquire) ? generation : 0;
}

session* effective_session(const thread_state& thread) noexcept {
    return find_session(effective_generation(thread));
}

store_use::store_use(thread_record& record, std::uint32_t generation) noexcept
    : record_(record), before_(record.busy.load(std::memory_order_relaxed)) {
    // In a signal handler that interrupted another stay: that one must stay visible.
    if (before_ != 0 && before_ != generation) return;
    // Sequentially consistent, as a stop is: either it sees us and waits, or we see that it began.
    record.busy.store(generation, std::memory_order_seq_cst);
    for (session& each : sessions) {
        if (each.generation.load(std::memory_order_seq_cst) == generation &&
            each.live.load(std::memory_order_seq_cst))
            owner_ = &each;
    }
}

store_use::~store_use() {
    record_.busy.store(before_, std::memory_order_release);  // pairs with wait_until_unused()
}

thread_record* register_thread(thread_state& thread) noexcept {
    if (thread.record == &gone) return nullptr;
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
    // Without a counter the fast path must not be taken: no scope is ever on a stack of no bytes.
    thread.stack_bytes = tick_source() == trace::clock_source::monotonic_ns ? 0 : record->stack_bytes;
    __atomic_store_n(&thread.gate, global_gate(), __ATOMIC_RELAXED);
    return record;
}

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
    if (own == nullptr) own = find_session(global.load(std::memory_order_acquire));
    if (own != nullptr && own->generation.load(std::memory_order_relaxed) == thread.bound_session) return;
    if (thread.record->current != nullptr) thread.record->current->cursor = thread.cursor;
    thread.record->current = nullptr;
    thread.bound_session = 0;
    set_cursor(thread, nullptr, nullptr);
}

char* refill(thread_state& thread, unsigned records) noexcept {
    return refill_sized(thread, guaranteed_bytes, records);
}
char* refill_bytes(thread_state& thread, std::size_t bytes) noexcept {
    return refill_sized(thread, bytes + limit_distance, 1);
}

void reset_after_fork() noexcept {
    for (session& each : sessions) {
        if (each.generation.load(std::memory_order_relaxed) == 0) continue;
        each.live.store(false, std::memory_order_relaxed);
        if (each.tracks_live.exchange(false, std::memory_order_relaxed))
            set_live_tracking(live_reason::needed, false);
        if (each.store != nullptr) each.store->abandon_after_fork();
        each.store = nullptr;
        each.generation.store(0, std::memory_order_relaxed);
    }
    forget_crashes();
    forget_devices();
    global.store(0, std::memory_order_relaxed);
    thread_state& thread = this_thread;
    threads = thread.record == &gone ? nullptr : thread.record;
    if (threads != nullptr) {
        threads->next = nullptr;
        threads->os_id = kernel_thread_id();
        threads->busy.store(0, std::memory_order_relaxed);
        for (binding& bound : threads->bindings) bound.generation.store(0, std::memory_order_relaxed);
        threads->current = nullptr;
    }
    thread.bound_session = 0;
    thread.cursor = nullptr;
    __atomic_store_n(&thread.limit, nullptr, __ATOMIC_RELAXED);
    __atomic_store_n(&thread.gate, thread.record == nullptr ? gate_unknown : global_gate(),
                     __ATOMIC_RELAXED);
}

}  // namespace coroscope::runtime
