// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sessions of the process, in a table of fixed size. A session is identified by its generation,
// which is never reused. So a context from an old session finds nothing, instead of freed memory.

#include <atomic>
#include <cstdint>

#include <coroscope/detail/thread_state.hpp>

#include "../base/own_mutex.hpp"
#include "../store/chunk_store.hpp"
#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {

/// The generations of the earlier files of a session that records into several files, one after the
/// other. A few are kept, for requests that are left out and go on in a later file.
inline constexpr std::size_t kept_generations = 16;

struct session {
    std::atomic<std::uint32_t> generation{0};  ///< 0: the slot is free
    std::atomic<std::uint32_t> handle{0};  ///< the generation of its first file; its profile's name
    std::atomic<bool> ending{false};       ///< it is not live any more, and its store is still open
    std::atomic<std::uint32_t> earlier[kept_generations]{};  ///< see kept_generations; 0: none
    std::atomic<std::uint64_t> earlier_losses{0};            ///< lost in its earlier files
    std::atomic<bool> live{false};
    std::atomic<bool> takes_definitions{
        false};  ///< from before its first record to after its last; cleared under the sites' lock
    std::atomic<std::uint64_t> late_records{0};  ///< arrived after the stop began
    std::atomic<std::uint64_t> lost_records{0};  ///< lost by threads that could not reach the store
    std::atomic<std::uint64_t> lost_unnamed{
        0};  ///< lost by threads without a description; also in the header
    std::atomic<std::uint64_t> departed_losses{0};  ///< dropped by ended threads
    chunk_store* store = nullptr;  ///< recording threads reach it by store_use only
    std::atomic<std::uint64_t> start_ticks{0};
    std::atomic<bool> task_table{false};
    std::atomic<bool> reports_crashes{false};        ///< its threads need signal stacks
    std::atomic<bool> tracks_live{false};            ///< it needs the table of live tasks
    std::atomic<bool> devices{false};                ///< it records devices, too
    std::atomic<std::uint64_t> features{0};          ///< trace::session_features
    std::atomic<std::uint64_t> without_data{0};      ///< of these: see trace::file_header
    std::atomic<bool> collecting{true};              ///< can be switched while it is live
    std::atomic<std::uint32_t> toggles{0};           ///< threads begin a section after each
    std::atomic<bool> samples{false};                ///< some requests may be left out
    std::atomic<std::uint32_t> request_interval{1};  ///< one of so many is recorded in full
    std::atomic<std::uint32_t> told_interval{1};     ///< the last one that was recorded
    std::atomic<std::uint32_t> cost_ppm{0};          ///< the last measured: store/cost_budget.hpp
};

inline constexpr int session_slots = 8;
session* session_table() noexcept;

/// The generation of the session of all threads; 0 if there is none.
std::atomic<std::uint32_t>& global_generation() noexcept;

/// Returns the live session of this generation, or null.
session* find_session(std::uint32_t generation) noexcept;

/// Returns the live session whose first file has this generation, or null. That is the session that
/// a profile knows by this number.
session* find_session_of(std::uint32_t handle) noexcept;

/// Returns the generation of the session into which the thread's context records now; 0 if there is
/// none.
std::uint32_t effective_generation(const thread_state& thread) noexcept;

/// Returns whether a context with this session belongs to a request that a live session leaves out.
bool is_left_out(std::uint32_t session) noexcept;
/// Returns the same for the thread's context. If it is true, no session records here.
bool is_left_out(const thread_state& thread) noexcept;

/// Returns a context's session without the bits of a request: the generation of the context's own
/// live session, or 0 if it has none.
std::uint32_t outside_requests(std::uint32_t session) noexcept;

/// Returns that session, or null. The session may end at any time, so its store must be accessed
/// only through store_use.
session* effective_session(const thread_state& thread) noexcept;

/// Returns whether the session into which this thread records was asked for the feature. Returns
/// false outside sessions.
bool wants(std::uint64_t feature) noexcept;

/// Calls `write` for the store of each session that takes definitions of new strings, sites and
/// objects. The caller must hold sites_mutex().
template <class Write>
void for_each_store(const Write& write) noexcept {
    session* table = session_table();
    for (int slot = 0; slot < session_slots; ++slot) {
        session& each = table[slot];
        if (each.takes_definitions.load(std::memory_order_acquire)) write(*each.store);
    }
}

/// Held while a session starts or stops. Taken before the locks of sites and registry.
own_mutex& sessions_mutex() noexcept;

/// Lets a thread use the store of a live session for its lifetime. A stop of the session waits for
/// its end, for a bounded time.
class store_use {
public:
    store_use(thread_record& record, std::uint32_t generation) noexcept;
    ~store_use();
    store_use(const store_use&) = delete;
    store_use& operator=(const store_use&) = delete;

    /// Returns the session, or null if it is over.
    session* owner() const noexcept { return owner_; }

private:
    thread_record& record_;
    std::uint32_t before_;
    session* owner_ = nullptr;
};

/// Returns whether a thread other than `but` uses the session's store. The caller must hold
/// registry_mutex().
bool is_used(std::uint32_t generation, const thread_record* but = nullptr) noexcept;

/// Waits, for a bounded time, until no other thread uses the session's store. The calling thread
/// may still use it: then this call is made in a signal handler.
void wait_until_unused(std::uint32_t generation) noexcept;

/// Ends a thread's use of a session and adds the thread's losses to the session's. The session may
/// be live or over. The caller must hold registry_mutex(), under which slots of the table are given
/// up, too.
void end_binding(binding& bound) noexcept;

/// Must be called in a forked child, in which no session continues.
void forget_sessions() noexcept;

}  // namespace coroscope::runtime::inline writer
