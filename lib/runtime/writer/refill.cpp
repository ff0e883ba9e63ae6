// SPDX-License-Identifier: Apache-2.0
#include "refill.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <span>

#include "../base/clock.hpp"
#include "../base/kept_errno.hpp"
#include "../store/chunk.hpp"
#include "signal_stack.hpp"
#include "thread_gate.hpp"
#include "thread_guests.hpp"

namespace coroscope::runtime::inline writer {
namespace {

using namespace detail;

trace::thread_body describe_thread(const thread_record& record) noexcept {
    trace::thread_body body{};
    body.os_thread_id = record.os_id;
    prctl(PR_GET_NAME, body.name);
    return body;
}

// Returns a free binding, else one whose session is over. Returns the current binding only if its
// session is over.
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
    bound->had_chunk = false;
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

// In a signal handler the cursor may be beyond the chunk's end, because the interrupted scope has
// reserved a record there and has not returned it yet.
bool has_room(const thread_state& thread, const binding& bound, std::size_t bytes) noexcept {
    if (bound.chunk == nullptr) return false;
    const auto written =
        static_cast<std::size_t>(thread.cursor - reinterpret_cast<char*>(bound.chunk));
    const std::size_t room = bound.owner->store->chunk_bytes();
    return written <= room && room - written >= bytes;
}

// Bytes of the records whose places were taken in a chunk. A cursor at the limit or behind it
// belongs to a place that is given back, or to a record that begins below the limit.
std::uint32_t taken_bytes(const session& owner, const trace::chunk_header* chunk,
                          const char* cursor) noexcept {
    const char* records = reinterpret_cast<const char*>(chunk) + trace::chunk_header_bytes;
    const std::size_t most =
        owner.store->chunk_bytes() - trace::chunk_header_bytes - limit_distance;
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(static_cast<std::size_t>(cursor - records), most));
}

// After a switch of collection the reader needs the running task. A new section of the chunk names
// it, or the header of the next chunk.
void begin_anew_after_toggle(thread_state& thread, session& owner, binding& bound) noexcept {
    const std::uint32_t toggles = owner.toggles.load(std::memory_order_acquire);
    if (bound.toggles == toggles) return;
    bound.toggles = toggles;
    if (bound.chunk == nullptr) return;
    char*& cursor = thread.record->current == &bound ? thread.cursor : bound.cursor;
    char* const begin =
        owner.store->begin_anew({bound.chunk, bound.begin}, cursor, thread.record->id, bound.body,
                                thread.mark >> trace::mark_thread_bits, current_ticks());
    if (begin != nullptr) {
        bound.begin = cursor = begin;
        return;
    }
    owner.store->hand_over(bound.chunk);
    bound.chunk = nullptr;
    bound.cursor = no_place();
}

void begin_records(thread_state& thread, binding& bound, trace::chunk_header* chunk,
                   char* begin) noexcept {
    bound.chunk = chunk;
    bound.had_chunk = true;
    bound.begin = begin;
    thread.cursor = begin;
}

// Takes the rest of another thread's chunk as this thread's first room.
bool take_rest(thread_state& thread, binding& bound, std::size_t bytes) noexcept {
    chunk_store& store = *bound.owner->store;
    if (bound.had_chunk || !store.has_rests() || bytes > chunk_store::least_section_bytes)
        return false;
    const chunk_store::section rest = store.take_rest(
        thread.record->id, bound.body, thread.mark >> trace::mark_thread_bits, current_ticks());
    if (rest.chunk == nullptr) return false;
    begin_records(thread, bound, rest.chunk, rest.begin);
    return true;
}

// Gets a new chunk for the binding, with room for `bytes` bytes unless a chunk is smaller. Returns
// false if there is no chunk. If the trace is full, it is called for each record.
bool take_chunk(thread_state& thread, binding& bound, std::size_t bytes) noexcept {
    chunk_store& store = *bound.owner->store;
    if (bound.chunk != nullptr) {
        store.hand_over(bound.chunk, taken_bytes(*bound.owner, bound.chunk, thread.cursor));
        bound.chunk = nullptr;
        thread.cursor = no_place();
    }
    if (take_rest(thread, bound, bytes)) return true;
    if (store.is_full()) return false;
    const std::uint64_t before = current_ticks();
    trace::chunk_header* const chunk = store.acquire(
        thread.record->id, bound.body, thread.mark >> trace::mark_thread_bits, before);
    if (store.policy() == trace::overflow_policy::wait)
        __atomic_fetch_add(&bound.body->waited_ticks, current_ticks() - before, __ATOMIC_RELAXED);
    if (chunk == nullptr) return false;
    begin_records(thread, bound, chunk, records_of(*chunk));
    return true;
}

// Needs no atomic read-modify-write: only the thread itself counts here, and `refilling` excludes
// its signal handlers.
void count_dropped(binding& bound, unsigned records) noexcept {
    const std::uint64_t lost = bound.lost.load(std::memory_order_relaxed) + records;
    bound.lost.store(lost, std::memory_order_relaxed);
    publish_word(&bound.body->dropped_newest, lost);
}

// Counts records that came after the session's end.
void count_late(thread_state& thread, session* owner, unsigned records) noexcept {
    if (owner != nullptr && owner->collecting.load(std::memory_order_relaxed))
        owner->late_records.fetch_add(records, std::memory_order_relaxed);
    clear_limit(thread);
}

// Counts records for which there is no room.
void count_lost(thread_state& thread, const session& owner, binding& bound,
                unsigned records) noexcept {
    if (owner.collecting.load(std::memory_order_relaxed)) count_dropped(bound, records);
    clear_limit(thread);
}

// Counts records of a thread that the trace cannot name.
void count_unnamed(session& owner, unsigned records) noexcept {
    add_to_counter(&owner.store->header().lost_records, records);
    owner.lost_unnamed.fetch_add(records, std::memory_order_relaxed);
}

void count_unreached(session* owner, unsigned records) noexcept {
    if (owner != nullptr) owner->lost_records.fetch_add(records, std::memory_order_relaxed);
}

// Returns the generation of the session that records here since the session of `ended` is over; 0
// if none does.
std::uint32_t successor_of(const thread_state& thread, std::uint32_t ended) noexcept {
    const std::uint32_t next = effective_generation(thread);
    return next != ended ? next : 0;
}

// Returns the session to which the cursor belonged, to count records that came too late for it.
session* last_session(const thread_state& thread) noexcept {
    for (session& each : std::span(session_table(), session_slots)) {
        if (thread.bound_session != 0 &&
            each.generation.load(std::memory_order_relaxed) == thread.bound_session)
            return &each;
    }
    return nullptr;
}

// Returns null if there is no room. `bound` is then null if the trace cannot name the thread.
char* refill_in(thread_state& thread, session& owner, std::uint32_t generation, std::size_t bytes,
                binding*& bound) noexcept {
    bound = bind(thread, owner, generation);
    if (bound == nullptr) return nullptr;
    // The limit is cleared so that a record of a signal handler does not compare the next cursor
    // with the old limit.
    clear_limit(thread);
    begin_anew_after_toggle(thread, owner, *bound);
    select_binding(thread, *bound, generation);
    const bool room = has_room(thread, *bound, bytes) ||
                      (take_chunk(thread, *bound, bytes) && has_room(thread, *bound, bytes));
    if (!room) return nullptr;
    set_limit(thread, chunk_end(owner, bound->chunk) - limit_distance);
    if (owner.live.load(std::memory_order_seq_cst) &&
        owner.collecting.load(std::memory_order_seq_cst) && !owner.store->was_cut())
        return thread.cursor;  // pairs with cut_off() and take_limits()
    return nullptr;
}

// Returns null if there is no room. If the session has ended meanwhile and another one records
// here, `next` is that one's generation; else the records are counted as lost.
char* refill_once(thread_state& thread, std::uint32_t generation, std::size_t bytes,
                  unsigned records, std::uint32_t& next) noexcept {
    const store_use use(*thread.record, generation);
    session* const owner = use.owner();
    binding* bound = nullptr;
    char* const cursor =
        owner != nullptr ? refill_in(thread, *owner, generation, bytes, bound) : nullptr;
    next = 0;
    if (cursor != nullptr) return cursor;
    if (owner == nullptr || !owner->live.load(std::memory_order_seq_cst)) {
        next = successor_of(thread, generation);
        if (next == 0)
            count_late(thread, owner != nullptr ? owner : last_session(thread), records);
        else
            clear_limit(thread);
    } else if (bound == nullptr) {
        count_unnamed(*owner, records);
    } else {
        count_lost(thread, *owner, *bound, records);
    }
    return nullptr;
}

// Recovers after a handler jumped out of a refill. It is unknown which chunks the thread had handed
// over by then. So the thread leaves all its chunks, and their sessions seal them at the end.
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

// Not inlined, so that each call that is under way has a frame of its own.
[[gnu::noinline]] char* refill_sized(thread_state& thread, std::size_t bytes,
                                     unsigned records) noexcept {
    if (!is_recording() && thread.bound_session == 0)
        return nullptr;  // no session records here, nothing is lost
    if (is_left_out(thread)) {
        if (is_recording()) update_gate(thread);  // collection was switched on again meanwhile
        return nullptr;
    }
    const kept_errno programs;
    thread_record* record = register_thread(thread);
    const std::uint32_t generation = effective_generation(thread);
    const void* const here = __builtin_frame_address(0);
    if (record != nullptr && record->refilling != nullptr &&
        was_left(*record, record->refilling, here))
        start_over(thread, here);
    if (record == nullptr || record->refilling != nullptr) {
        count_unreached(find_session(generation), records);
        return nullptr;
    }
    if (generation == 0) {
        count_late(thread, last_session(thread), records);
        update_gate(thread);
        return nullptr;
    }
    record->refilling = here;
    char* cursor = nullptr;
    for (std::uint32_t next = generation; next != 0;)
        cursor = refill_once(thread, next, bytes, records, next);
    record->refilling = nullptr;
    return cursor;
}

bool begins_records(const thread_record& record, const char* cursor) noexcept {
    const binding* bound = record.current;
    return bound != nullptr && bound->chunk != nullptr && cursor == bound->begin;
}

// A chunk that overwrites others begins with the attributes that its thread carries, and so does a
// section of such a chunk.
char* refill_and_tell(thread_state& thread, std::size_t bytes, unsigned records) noexcept {
    char* cursor = refill_sized(thread, bytes, records);
    if (cursor == nullptr || carried_attributes(thread.carried) == 0 ||
        (load_gate() & gate_task_table) == 0) [[likely]]
        return cursor;
    if (thread.record->told.nothing || !begins_records(*thread.record, cursor)) return cursor;
    {
        const context_change told_already;
        tell_guests<&thread_guest::begin_chunk>();
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

// Compares stack addresses. On one stack, the frames of a handler are at lower addresses than the
// refill that it interrupts.
bool was_left(const thread_record& record, const void* under_way, const void* here) noexcept {
    const auto place = [&record](const void* at) {
        return reinterpret_cast<std::uintptr_t>(at) - record.stack_low;
    };
    if (place(under_way) > place(here) || place(here) >= record.stack_bytes) return false;
    stack_t handlers{};  // their stack may be a part of the thread's
    return ::sigaltstack(nullptr, &handlers) == 0 && (handlers.ss_flags & SS_ONSTACK) == 0;
}

void count_unregistered(unsigned records) noexcept {
    const thread_state& thread = this_thread;
    if (goes_unrecorded(thread)) count_unreached(effective_session(thread), records);
}

}  // namespace coroscope::runtime::inline writer
