// SPDX-License-Identifier: Apache-2.0
#include "refill.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <span>

#include "attribute_nodes.hpp"
#include "chunk.hpp"
#include "clock.hpp"
#include "crash_report.hpp"
#include "kept_errno.hpp"

namespace coroscope::runtime {
namespace {

using namespace detail;

trace::thread_body describe_thread(const thread_record& record) noexcept {
    trace::thread_body body{};
    body.os_thread_id = record.os_id;
    prctl(PR_GET_NAME, body.name);
    return body;
}

// A free binding, else one whose session is over; never the current one unless it is over, too.
binding* free_binding(thread_record& record) noexcept {
    for (binding& bound : record.bindings)
        if (bound.generation.load(std::memory_order_relaxed) == 0) return &bound;
    for (binding& bound : record.bindings) {
        if (find_session(bound.generation.load(std::memory_order_relaxed)) != nullptr) continue;
        release_binding(bound);
        return &bound;
    }
    return nullptr;
}

binding* bind(thread_state& thread, session& owner, std::uint32_t generation) noexcept {
    thread_record& record = *thread.record;
    for (binding& bound : record.bindings) {
        if (bound.generation.load(std::memory_order_relaxed) == generation) return &bound;
    }
    binding* bound = owner.store->takes_threads() ? free_binding(record) : nullptr;
    if (bound == nullptr) return nullptr;
    trace::thread_body* body =
        owner.store->append_thread(current_ticks(), record.id, describe_thread(record));
    if (body == nullptr) return nullptr;
    bound->owner = &owner;
    bound->chunk = nullptr;
    bound->cursor = no_place();
    bound->body = body;
    bound->lost.store(0, std::memory_order_relaxed);
    bound->generation.store(generation, std::memory_order_release);
    if (owner.reports_crashes.load(std::memory_order_relaxed)) give_signal_stack(record);
    return bound;
}

char* chunk_end(const session& owner, trace::chunk_header* chunk) noexcept {
    return reinterpret_cast<char*>(chunk) + owner.store->chunk_bytes();
}

void select_binding(thread_state& thread, binding& bound, std::uint32_t generation) noexcept {
    thread_record& record = *thread.record;
    if (record.current == &bound && thread.bound_session == generation) return;
    if (record.current != nullptr && record.current != &bound)
        record.current->cursor = thread.cursor;
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

// Bytes of the records whose places were taken in a chunk. What stands at the limit or behind it was taken and is given
// back, or begins below it.
std::uint32_t taken_bytes(const session& owner, const trace::chunk_header* chunk,
                          const char* cursor) noexcept {
    const char* records = reinterpret_cast<const char*>(chunk) + trace::chunk_header_bytes;
    const std::size_t most =
        owner.store->chunk_bytes() - trace::chunk_header_bytes - limit_distance;
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(static_cast<std::size_t>(cursor - records), most));
}

// After a switch of collection the reader must be told who runs: the next chunk says it.
void leave_chunk_after_toggle(session& owner, binding& bound) noexcept {
    const std::uint32_t toggles = owner.toggles.load(std::memory_order_acquire);
    if (bound.toggles == toggles) return;
    bound.toggles = toggles;
    if (bound.chunk != nullptr) owner.store->hand_over(bound.chunk);
    bound.chunk = nullptr;
    bound.cursor = no_place();
}

// A new chunk for the binding; false when there is none. Of a full trace every record asks.
bool take_chunk(thread_state& thread, binding& bound) noexcept {
    chunk_store& store = *bound.owner->store;
    if (bound.chunk != nullptr) {
        store.hand_over(bound.chunk, taken_bytes(*bound.owner, bound.chunk, thread.cursor));
        bound.chunk = nullptr;
        thread.cursor = no_place();
    }
    if (store.is_full()) return false;
    const std::uint64_t before = current_ticks();
    bound.chunk = store.acquire(thread.record->id, bound.body,
                                thread.mark >> trace::mark_thread_bits, before);
    if (store.policy() == trace::overflow_policy::wait)
        __atomic_fetch_add(&bound.body->waited_ticks, current_ticks() - before, __ATOMIC_RELAXED);
    if (bound.chunk == nullptr) return false;
    thread.cursor = reinterpret_cast<char*>(bound.chunk) + trace::chunk_header_bytes;
    return true;
}

// Only the thread itself counts here, and no handler on it meanwhile (`refilling`): without locked instructions.
void count_dropped(binding& bound, unsigned records) noexcept {
    const std::uint64_t lost = bound.lost.load(std::memory_order_relaxed) + records;
    bound.lost.store(lost, std::memory_order_relaxed);
    publish_word(&bound.body->dropped_newest, lost);
}

void count_lost(thread_state& thread, session* owner, binding* bound, unsigned records) noexcept {
    if (owner != nullptr && !owner->collecting.load(std::memory_order_relaxed)) records = 0;
    if (owner == nullptr || !owner->live.load(std::memory_order_relaxed)) {
        if (owner != nullptr) owner->late_records.fetch_add(records, std::memory_order_relaxed);
    } else if (bound != nullptr) {
        count_dropped(*bound, records);
    } else {
        owner->lost_records.fetch_add(records, std::memory_order_relaxed);
    }
    clear_limit(thread);
}

// Of a thread that the trace cannot name. It cannot either where the session is just ending: then they are late.
void count_unnamed(session& owner, unsigned records) noexcept {
    if (owner.live.load(std::memory_order_seq_cst))
        add_to_counter(&owner.store->header().lost_records, records);
    else
        owner.late_records.fetch_add(records, std::memory_order_relaxed);
}

void count_unreached(session* owner, unsigned records) noexcept {
    if (owner != nullptr) owner->lost_records.fetch_add(records, std::memory_order_relaxed);
}

// The session that the cursor belonged to, for counting what came too late for it.
session* last_session(const thread_state& thread) noexcept {
    for (session& each : std::span(session_table(), session_slots)) {
        if (thread.bound_session != 0 &&
            each.generation.load(std::memory_order_relaxed) == thread.bound_session)
            return &each;
    }
    return nullptr;
}

char* refill_in(thread_state& thread, session& owner, std::uint32_t generation, std::size_t bytes,
                unsigned records) noexcept {
    binding* bound = bind(thread, owner, generation);
    if (bound == nullptr) {
        count_unnamed(owner, records);
        return nullptr;
    }
    // A handler's record is not to hold the next cursor against the old limit.
    clear_limit(thread);
    leave_chunk_after_toggle(owner, *bound);
    select_binding(thread, *bound, generation);
    const bool room = has_room(thread, *bound, bytes) ||
                      (take_chunk(thread, *bound) && has_room(thread, *bound, bytes));
    if (!room) {
        count_lost(thread, &owner, bound, records);
        return nullptr;
    }
    set_limit(thread, chunk_end(owner, bound->chunk) - limit_distance);
    if (owner.live.load(std::memory_order_seq_cst) &&
        owner.collecting.load(std::memory_order_seq_cst) && !owner.store->was_cut())
        return thread.cursor;  // pairs with cut_off() and take_limits()
    count_lost(thread, &owner, bound, records);
    return nullptr;
}

// A refill under way stands above what interrupts it, on the same stack. One that does not was left: a handler that
// interrupted it jumped away (siglongjmp).
bool was_left(const thread_record& record, const void* here) noexcept {
    const auto place = [&record](const void* at) {
        return reinterpret_cast<std::uintptr_t>(at) - record.stack_low;
    };
    if (place(record.refilling) > place(here) || place(here) >= record.stack_bytes) return false;
    stack_t handlers{};  // their stack may be a part of the thread's
    return ::sigaltstack(nullptr, &handlers) == 0 && (handlers.ss_flags & SS_ONSTACK) == 0;
}

// Which chunks the thread had handed over by then nobody knows. It leaves all that it has, which are sealed when their
// sessions end.
void start_over(thread_state& thread, const void* here) noexcept {
    thread_record& record = *thread.record;
    record.refilling = here;  // for handlers
    clear_limit(thread);
    for (binding& bound : record.bindings) {
        bound.chunk = nullptr;
        bound.cursor = no_place();
    }
    record.current = nullptr;
    thread.bound_session = 0;
    thread.cursor = no_place();
    record.busy.store(0, std::memory_order_release);  // pairs with is_used()
    record.refilling = nullptr;
}

// Not inlined: each one that is under way has a frame of its own.
[[gnu::noinline]] char* refill_sized(thread_state& thread, std::size_t bytes,
                                     unsigned records) noexcept {
    if (!is_recording() && thread.bound_session == 0)
        return nullptr;  // nobody records, nothing is lost
    const kept_errno programs;
    thread_record* record = register_thread(thread);
    const std::uint32_t generation = effective_generation(thread);
    const void* const here = __builtin_frame_address(0);
    if (record != nullptr && record->refilling != nullptr && was_left(*record, here))
        start_over(thread, here);
    if (record == nullptr || record->refilling != nullptr) {
        count_unreached(find_session(generation), records);
        return nullptr;
    }
    if (generation == 0) {
        count_lost(thread, last_session(thread), nullptr, records);
        update_gate(thread);
        return nullptr;
    }
    record->refilling = here;
    char* cursor = nullptr;
    {
        const store_use use(*record, generation);
        if (use.owner() != nullptr)
            cursor = refill_in(thread, *use.owner(), generation, bytes, records);
        else
            count_lost(thread, last_session(thread), nullptr, records);
    }
    record->refilling = nullptr;
    return cursor;
}

bool begins_chunk(const thread_record& record, const char* cursor) noexcept {
    const binding* bound = record.current;
    return bound != nullptr && bound->chunk != nullptr &&
           cursor == reinterpret_cast<char*>(bound->chunk) + trace::chunk_header_bytes;
}

// A chunk that overwrites others tells itself what its thread carries where it begins.
char* refill_and_tell(thread_state& thread, std::size_t bytes, unsigned records) noexcept {
    char* cursor = refill_sized(thread, bytes, records);
    if (cursor == nullptr || carried_attributes(thread.carried) == 0 ||
        (load_gate() & gate_task_table) == 0) [[likely]]
        return cursor;
    if (thread.record->told.nothing || !begins_chunk(*thread.record, cursor)) return cursor;
    {
        const context_change told_already;
        repeat_what_is_carried();
    }
    return refill_sized(thread, bytes, records);
}

}  // namespace

char* refill(thread_state& thread, unsigned records) noexcept {
    return refill_and_tell(thread, 2 * guaranteed_bytes, records);
}
char* refill_bytes(thread_state& thread, std::size_t bytes) noexcept {
    return refill_and_tell(thread, bytes + limit_distance, 1);
}

void count_unregistered(unsigned records) noexcept {
    const thread_state& thread = this_thread;
    if (thread.record == nullptr) count_unreached(effective_session(thread), records);
}

}  // namespace coroscope::runtime
