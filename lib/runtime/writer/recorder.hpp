// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes records. Every recording function ends in these functions.

#include <cstdint>
#include <cstring>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/site.hpp>
#include <coroscope/trace/format.hpp>

#include "../base/clock.hpp"
#include "../base/compiler_barrier.hpp"
#include "refill.hpp"
#include "sites.hpp"
#include "thread_counts.hpp"

namespace coroscope::runtime::inline writer {

using detail::this_thread;
using trace::make_tag;
using trace::record_kind;

/// The current time, for threads that are not registered yet and for counters that are no clock.
/// Returns 0 on a thread that cannot be registered.
std::uint64_t careful_now() noexcept;

/// Returns whether the counter is a clock on this thread. `gate` is the thread's gate.
[[gnu::always_inline]] inline bool counts_time(std::int32_t gate) noexcept {
    constexpr std::int32_t doubts =
        (detail::gate_slow_clock | detail::gate_unknown) & ~detail::gate_careful;
    return (gate & doubts) == 0;
}

/// Returns the current time of the tick clock.
[[gnu::always_inline]] inline std::uint64_t now() noexcept {
    if (!runtime::counts_time(detail::load_gate())) [[unlikely]]
        return careful_now();
    return detail::counter_ticks();
}

/// Loads the thread's limit, which a stop may set from another thread. Without ThreadSanitizer it
/// is a plain load. A compiler cannot hoist it out of a loop, because the functions that use it are
/// not inlined into loops.
[[gnu::always_inline]] inline char* load_limit() noexcept {
#if defined(__SANITIZE_THREAD__)
    return __atomic_load_n(&this_thread.limit, __ATOMIC_RELAXED);
#else
    return this_thread.limit;
#endif
}

/// Loads the thread's gate in the same manner, for the bits of listeners to this thread's tasks.
[[gnu::always_inline]] inline std::int32_t load_gate_once() noexcept {
#if defined(__SANITIZE_THREAD__)
    return detail::load_gate();
#else
    return this_thread.gate;
#endif
}

/// Returns a cursor with room for guaranteed_bytes bytes. If there is no room, counts `records` as
/// lost and returns null.
[[gnu::always_inline]] inline char* reserve(unsigned records = 1) noexcept {
    char* cursor = this_thread.cursor;
    if (cursor < load_limit()) [[likely]]
        return cursor;
    return refill(this_thread, records);
}

inline void store_word(char* at, std::uint64_t word) noexcept {
    __builtin_memcpy(at, &word, sizeof word);
}

/// Returns the address `bytes` bytes after a place. The place of an unregistered thread is null, on
/// which pointer arithmetic is undefined.
[[gnu::always_inline]] inline char* behind(char* place, std::uint64_t bytes) noexcept {
    return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(place) + bytes);
}

/// Takes the place up to `end`. Must be called before anything is written into it, so that a signal
/// handler that records in between writes after it.
[[gnu::always_inline]] inline void claim(char* end) noexcept {
    this_thread.cursor = end;
    compiler_barrier();
}

/// Takes a place of that many bytes, at most guaranteed_bytes. It uses one instruction if the
/// processor has one, so that a signal handler records before or after it. There may be no room:
/// the caller must read the limit before it takes the place. If a handler changes chunks in
/// between, the caller compares the place with the limit of the chunk before; then the place is
/// rejected, or it has room anyway (refill.hpp). In the other order the caller would compare the
/// place in a full chunk with the next chunk's limit.
[[gnu::always_inline]] inline char* take_place(std::uint64_t bytes) noexcept {
#if defined(__x86_64__)
    asm volatile("xaddq %0, %1" : "+r"(bytes), "+m"(this_thread.cursor) : : "cc", "memory");
    return reinterpret_cast<char*>(bytes);
#else
    char* place = this_thread.cursor;
    claim(behind(place, bytes));
    return place;
#endif
}

/// Gives a place without room back. Does nothing if a handler recorded meanwhile and moved the
/// cursor on.
inline void give_place_back(char* place, std::uint64_t bytes) noexcept {
    char* taken = behind(place, bytes);
    __atomic_compare_exchange_n(&this_thread.cursor, &taken, place, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

/// The same for callers that have another way if the chunk is full: it then returns false and takes
/// nothing.
[[gnu::always_inline]] inline bool find_place(char*& place, std::uint64_t bytes) noexcept {
    char* const limit = load_limit();
    place = take_place(bytes);
    if (place < limit) [[likely]]
        return true;
    give_place_back(place, bytes);
    return false;
}

/// For take_reserved(), if there is no room behind a signal handler's records. Returns a place in
/// another chunk. If there is no such chunk, counts the record as lost and returns a place outside
/// of the trace.
char* place_after_handler(char* place, std::size_t bytes) noexcept;

/// Takes the place that reserve() gave, or another one if a signal handler recorded in between.
/// Never null: if there is no place any more, the record is counted as lost and the returned place
/// is outside of the trace.
[[gnu::always_inline]] inline char* take_reserved(char* at, std::uint64_t bytes) noexcept {
    char* const limit = load_limit();
    char* place = take_place(bytes);
    return place == at || place < limit ? place : place_after_handler(place, bytes);
}

/// Stores the word that makes a record valid. Pairs with the acquire loads of readers of an open
/// chunk.
inline void publish_tag(char* record, std::uint64_t tag) noexcept {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(record + 8), tag, __ATOMIC_RELEASE);
}

[[gnu::always_inline]] inline void write_record(char* at, std::uint64_t first,
                                                std::uint64_t tag) noexcept {
    at = take_reserved(at, trace::record_unit_bytes);
    store_word(at, first);
    publish_tag(at, tag);
}

constexpr std::uint64_t long_record_bytes = 32;

/// A place for a record of 32 bytes, or of `Bytes`, as by find_place(). Prefetches memory some
/// records ahead, because the processor does so by itself only after it has detected a stream.
template <std::uint64_t Bytes = long_record_bytes>
[[gnu::always_inline]] inline bool find_long_place(char*& place) noexcept {
    constexpr std::uint64_t fetched_ahead = 512;
    const bool found = find_place(place, Bytes);
    __builtin_prefetch(behind(place, fetched_ahead), 1);
    return found;
}

/// Writes a record of 32 bytes into its place.
[[gnu::always_inline]] inline void fill_record(char* at, std::uint64_t first, std::uint64_t tag,
                                               std::uint64_t third, std::uint64_t fourth) noexcept {
    store_word(at, first);
    store_word(at + 16, third);
    store_word(at + 24, fourth);
    publish_tag(at, tag);
}

[[gnu::always_inline]] inline void write_record(char* at, std::uint64_t first, std::uint64_t tag,
                                                std::uint64_t third,
                                                std::uint64_t fourth) noexcept {
    at = take_reserved(at, long_record_bytes);
    fill_record(at, first, tag, third, fourth);
}

/// Writes a fact (trace::fact_kind) of the thread; it is counted as lost if there is no room.
template <class Body>
void write_fact(std::uint64_t first, std::uint32_t id, const Body& body) noexcept {
    static_assert(sizeof body % trace::record_unit_bytes == 0);
    constexpr std::size_t bytes = trace::record_unit_bytes + sizeof body;
    static_assert(bytes <= guaranteed_bytes);
    char* at = reserve();
    if (at == nullptr) return;
    at = take_reserved(at, bytes);
    store_word(at, first);
    std::memcpy(at + trace::record_unit_bytes, &body, sizeof body);
    publish_tag(at, make_tag(record_kind::fact, id, sizeof body));
}

/// Writes a record with text behind it: a label, arguments, an attribute. Text beyond payload_limit
/// is cut, and counted. Returns false if the record was lost.
bool write_text(std::uint64_t first, record_kind kind, std::uint32_t id, const char* text,
                std::size_t size) noexcept;

/// Returns the id of a site, which is registered if necessary. Returns 0 if it cannot be
/// registered.
inline std::uint32_t site_id(site& where) noexcept {
    if (!is_registered(where) && !register_site(where)) [[unlikely]]
        return 0;
    return trace::tag_id(__atomic_load_n(&where.tag, __ATOMIC_RELAXED));
}

/// The same for a registered site. Returns false if the site is not registered.
[[gnu::always_inline]] inline bool find_site_id(site& where, std::uint32_t& id) noexcept {
    id = trace::tag_id(__atomic_load_n(&where.tag, __ATOMIC_RELAXED));
    return is_registered(where);
}

inline std::uint64_t task_of(std::uint64_t mark) noexcept {
    return mark >> trace::mark_thread_bits;
}

}  // namespace coroscope::runtime::inline writer
