// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scopes that are named while they are open (profile_options::open_scopes). Such a scope has an
// entry in memory of our own and, through it, a place in the trace of the session in which it
// began:
//
//   scope_start {open_ticks, entry} ──► open_entry {ticks, mark, …} ──place──► trace::open_scope
//
// The place shows the scope to readers of the trace. The scope's end reads from the entry when the
// scope began. Entries live as long as the process, so that a scope may outlive its session. A
// place is touched only by a thread that keeps the session's memory: by its binding, by a
// store_use, or under the registry's lock.
//
// A thread has a pool of entries. The thread that ends a scope gives the entry back to the entry's
// pool: to its own one directly, to another thread's by one atomic operation. A pool outlives its
// thread, and a later thread takes it over.
//
// Threads: each function acts for the calling thread. A signal handler that records may interrupt
// any of them.

#include <cstdint>

#include <coroscope/scope.hpp>

#include "../base/text_writer.hpp"
#include "../observers/observation.hpp"
#include "../store/chunk.hpp"
#include "../writer/recorder.hpp"
#include "../writer/registry.hpp"
#include "open_entries.hpp"

namespace coroscope::detail {

[[gnu::always_inline]] inline bool is_open(const scope_start& start) noexcept {
    return start.ticks == open_ticks;
}

/// The slow path: returns an entry for a scope of that site that is about to begin. Returns null if
/// the session does not name open scopes. If no entry is available, counts that and returns null.
open_entry* prepare_open(site& where) noexcept;

/// Stores the entry in the start of a scope that has begun and lives at `address`. If nothing
/// recorded its beginning, gives the entry back.
void keep_open(open_entry& entry, scope_start& start, const site& where,
               const void* address) noexcept;

/// Used by the inline functions below. Hides the entry's place if the thread may not be bound to
/// the place's session, because that session may be over.
void hide_elsewhere(const open_entry& entry) noexcept;
/// Used by the inline functions below. Returns the tag of a scope that does not live on the
/// thread's stack.
std::uint64_t open_tag_in_frame(const site& where, const void* address) noexcept;

/// Returns the tag, without its check, of a scope of that site that begins now and lives at
/// `address`.
[[gnu::always_inline]] inline std::uint64_t open_tag(const site& where,
                                                     const void* address) noexcept {
    const bool on_stack =
        reinterpret_cast<std::uintptr_t>(address) - this_thread.stack_low < this_thread.stack_bytes;
    if (!on_stack) [[unlikely]]
        return open_tag_in_frame(where, address);
    return __atomic_load_n(&where.tag, __ATOMIC_RELAXED);
}

/// Writes a scope to its place. The stores are atomic, because a stop may copy the place meanwhile.
/// Readers load the tag first.
[[gnu::always_inline]] inline void show(trace::open_scope& place, const trace::open_scope& shown,
                                        std::uint64_t tag) noexcept {
    __atomic_store_n(&place.start, shown.start, __ATOMIC_RELAXED);
    __atomic_store_n(&place.task, shown.task, __ATOMIC_RELAXED);
    __atomic_store_n(&place.thread, shown.thread, __ATOMIC_RELAXED);
    __atomic_store_n(&place.order, shown.order, __ATOMIC_RELAXED);
    runtime::publish_word(&place.tag, trace::make_open_tag(tag, shown));
}

[[gnu::always_inline]] inline void hide(trace::open_scope& place) noexcept {
    runtime::publish_word(&place.tag, 0);
}

/// Stores the entry, which must have a place, in the start of a scope that begins at `ticks`.
[[gnu::always_inline]] inline void open(open_entry& entry, scope_start& start, std::uint64_t tag,
                                        std::uint64_t mark, std::uint64_t ticks) noexcept {
    const std::uint32_t order = ++entry.pool->order;
    show(*entry.place, {ticks, 0, runtime::task_of(mark), this_thread.record->id, order}, tag);
    entry.mark.store(mark, std::memory_order_relaxed);
    entry.tag.store(tag, std::memory_order_relaxed);
    entry.order.store(order, std::memory_order_relaxed);
    entry.ticks.store(ticks, std::memory_order_relaxed);
    start.mark = reinterpret_cast<std::uint64_t>(&entry);
    start.ticks = open_ticks;
}

/// Gives the entry back to its pool.
[[gnu::always_inline]] inline void give(open_entry& entry) noexcept {
    const thread_record* record = this_thread.record;
    if (record != nullptr && record->open_scopes == entry.pool) [[likely]]
        entry.pool->put(entry);
    else
        entry.pool->give_back(entry);
}

/// Begins a scope now. Returns false and changes nothing if the slow path must be taken: no entry
/// or no place in the trace is ready, the site has no id or is switched off, or nothing records.
/// Precondition: the counter is a clock.
[[gnu::always_inline]] inline bool begin_open(scope_start& start, const site& where) noexcept {
    const thread_record* record = this_thread.record;
    const runtime::binding* bound = record->current;
    if (runtime::load_limit() == nullptr || bound == nullptr || record->open_scopes == nullptr ||
        !runtime::is_ready(where)) [[unlikely]]
        return false;
    open_entry* entry = record->open_scopes->take();
    if (entry == nullptr) [[unlikely]]
        return false;
    if (entry->place == nullptr ||
        entry->generation != bound->generation.load(std::memory_order_relaxed)) [[unlikely]] {
        record->open_scopes->put(*entry);
        return false;
    }
    open(*entry, start, open_tag(where, &start), this_thread.mark, counter_ticks());
    return true;
}

/// Must be called when the scope ends. Frees its place and its entry, and returns its start for the
/// session. Precondition: is_open(start).
[[gnu::always_inline]] inline scope_start take_open(const scope_start& start) noexcept {
    open_entry& entry = *reinterpret_cast<open_entry*>(start.mark);
    const scope_start begun{entry.ticks.load(std::memory_order_relaxed),
                            entry.mark.load(std::memory_order_relaxed)};
    const thread_record* record = this_thread.record;
    const runtime::binding* bound = record == nullptr ? nullptr : record->current;
    if (bound != nullptr && bound->generation.load(std::memory_order_relaxed) == entry.generation)
        [[likely]]
        hide(*entry.place);
    else
        hide_elsewhere(entry);
    entry.ticks.store(0, std::memory_order_relaxed);
    give(entry);
    return begun;
}

/// Returns the scope's start for the session, whether the scope is observed, named while it is
/// open, or both. The ticks are 0 if no session recorded the start.
inline scope_start recorded_start(const scope_start& start) noexcept {
    const scope_start told = told_start(start);
    if (!is_open(told)) return told;
    const auto& entry = *reinterpret_cast<const open_entry*>(told.mark);
    return {entry.ticks.load(std::memory_order_relaxed),
            entry.mark.load(std::memory_order_relaxed)};
}

/// The same at the scope's end: frees the place and the entry.
inline scope_start take_recorded_start(const scope_start& start) noexcept {
    const scope_start told = told_start(start);
    return is_open(told) ? take_open(told) : told;
}

}  // namespace coroscope::detail

namespace coroscope::runtime::inline scopes {

/// Must be called when the thread ends. Its pool is then free for a later thread.
void leave_open_pool(thread_record& record) noexcept;

/// Must be called in a forked child for its only thread. Ends a change of the pool that the fork
/// interrupted.
void reset_open_pool(thread_record& record) noexcept;

/// Writes a line for each scope that is open on this thread or in the task that it runs, innermost
/// first. Async-signal-safe.
void write_open_scopes(text_writer& to) noexcept;

}  // namespace coroscope::runtime::inline scopes
