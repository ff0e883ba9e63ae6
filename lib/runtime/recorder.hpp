// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writing records: the few lines that every recording function ends in.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/site.hpp>
#include <coroscope/trace/format.hpp>

#include "clock.hpp"
#include "refill.hpp"
#include "sites.hpp"

namespace coroscope::runtime {

using detail::this_thread;
using trace::make_tag;
using trace::record_kind;

/// Now, where the thread is not registered yet or the counter is no clock; 0 on a thread that cannot be registered.
std::uint64_t careful_now() noexcept;

/// Now, on this machine's tick clock.
[[gnu::always_inline]] inline std::uint64_t now() noexcept {
    if (detail::load_gate() < 0) [[unlikely]]
        return careful_now();
    return detail::counter_ticks();
}

/// A stop sets the limit from another thread. Outside the sanitizer the load is a plain one; the functions that use it
/// are not inlined into loops.
[[gnu::always_inline]] inline char* load_limit() noexcept {
#if defined(__SANITIZE_THREAD__)
    return __atomic_load_n(&this_thread.limit, __ATOMIC_RELAXED);
#else
    return this_thread.limit;
#endif
}

/// What wants to know of this thread's tasks, loaded in the same manner.
[[gnu::always_inline]] inline std::int32_t load_gate_once() noexcept {
#if defined(__SANITIZE_THREAD__)
    return detail::load_gate();
#else
    return this_thread.gate;
#endif
}

/// A cursor with guaranteed_bytes behind it, or null with `records` counted as lost.
[[gnu::always_inline]] inline char* reserve(unsigned records = 1) noexcept {
    char* cursor = this_thread.cursor;
    if (cursor < load_limit()) [[likely]]
        return cursor;
    return refill(this_thread, records);
}

inline void store_word(char* at, std::uint64_t word) noexcept {
    __builtin_memcpy(at, &word, sizeof word);
}

/// So far behind a place: an unregistered thread's is null, from which a pointer may not be moved.
[[gnu::always_inline]] inline char* behind(char* place, std::uint64_t bytes) noexcept {
    return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(place) + bytes);
}

/// Takes the place up to `end` before anything is written into it: a signal handler that records in
/// between then writes behind it.
[[gnu::always_inline]] inline void claim(char* end) noexcept {
    this_thread.cursor = end;
    __atomic_signal_fence(__ATOMIC_RELEASE);
}

/// Takes a place of that many bytes, at most guaranteed_bytes: in one instruction, where the processor has one, so that
/// a signal handler that records comes before it or after it. There may be no room: the limit is the caller's to look at,
/// before it takes the place. A handler that comes in between may change chunks: the place is then held against the limit of
/// the chunk before, and is none or has room all the same (refill.hpp). The other way round the place of a full
/// chunk would be held against the next one's limit.
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

/// Where there was none. A handler that recorded meanwhile has moved the cursor on: then nothing is to be done.
inline void give_place_back(char* place, std::uint64_t bytes) noexcept {
    char* taken = behind(place, bytes);
    __atomic_compare_exchange_n(&this_thread.cursor, &taken, place, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

/// The same for whoever goes another way where the chunk is full: false, and nothing is taken.
[[gnu::always_inline]] inline bool find_place(char*& place, std::uint64_t bytes) noexcept {
    char* const limit = load_limit();
    place = take_place(bytes);
    if (place < limit) [[likely]]
        return true;
    give_place_back(place, bytes);
    return false;
}

/// For take_reserved(): there was no room behind what a signal handler recorded. A place in another chunk; where there is
/// none the record is counted as lost, and the place is not the trace's.
char* place_after_handler(char* place, std::size_t bytes) noexcept;

/// The place that reserve() gave, taken; another one where a signal handler recorded in between. Never null: where
/// there is none any more the record is counted as lost, and goes nowhere.
[[gnu::always_inline]] inline char* take_reserved(char* at, std::uint64_t bytes) noexcept {
    char* const limit = load_limit();
    char* place = take_place(bytes);
    return place == at || place < limit ? place : place_after_handler(place, bytes);
}

/// The word that makes a record valid. Pairs with the acquire loads of whoever reads an open chunk.
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

/// A place for a record of 32 bytes, as find_place() finds it. Asks for the memory that comes some records later: the
/// processor begins to fetch it by itself only where it sees a stream.
[[gnu::always_inline]] inline bool find_long_place(char*& place) noexcept {
    constexpr std::uint64_t fetched_ahead = 512;
    const bool found = find_place(place, long_record_bytes);
    __builtin_prefetch(behind(place, fetched_ahead), 1);
    return found;
}

/// In a place that was taken for it.
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

/// Writes a record with text behind it: a label, arguments, an attribute. Text beyond payload_limit is cut,
/// and counted. False where the record was lost.
bool write_text(std::uint64_t first, record_kind kind, std::uint32_t id, const char* text,
                std::size_t size) noexcept;

/// Counts a text that was cut among those of this thread, where something records.
void count_truncated() noexcept;

/// The id of a site, registered if need be; 0 when it cannot be.
inline std::uint32_t site_id(site& where) noexcept {
    if (!is_registered(where) && !register_site(where)) [[unlikely]]
        return 0;
    return trace::tag_id(__atomic_load_n(&where.tag, __ATOMIC_RELAXED));
}

inline std::uint64_t task_of(std::uint64_t mark) noexcept {
    return mark >> trace::mark_thread_bits;
}

/// Under overwrite_oldest: keeps a live task's start beside the ring, and lets it go at its end, when
/// the start is written once more, with what the task carries. Do nothing in other sessions.
void keep_in_task_table(const trace::task_slot& slot) noexcept;
void drop_from_task_table(std::uint64_t task, std::uint64_t carried) noexcept;

}  // namespace coroscope::runtime
