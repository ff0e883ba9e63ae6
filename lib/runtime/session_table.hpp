// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process's sessions: a fixed table, in which each is named by a generation that is never reused, so that a
// context from an old session finds nothing instead of freed memory.

#include <atomic>
#include <cstdint>

#include <coroscope/detail/thread_state.hpp>

#include "chunk_store.hpp"

namespace coroscope::runtime {

using detail::thread_record;
using detail::thread_state;

struct session {
    std::atomic<std::uint32_t> generation{0};  ///< 0: the slot is free
    std::atomic<bool> live{false};
    std::atomic<bool> takes_definitions{
        false};  ///< from before its first record to after its last; cleared under the sites' lock
    std::atomic<std::uint64_t> late_records{0};  ///< arrived after the stop began
    std::atomic<std::uint64_t> lost_records{0};  ///< lost by threads that could not reach the store
    std::atomic<std::uint64_t> departed_losses{0};  ///< records dropped by threads that are gone
    chunk_store* store = nullptr;  ///< recording threads reach it by store_use only
    std::atomic<std::uint64_t> start_ticks{0};
    std::atomic<bool> record_arguments{false};
    std::atomic<bool> task_table{false};
    std::atomic<bool> reports_crashes{false};  ///< its threads get stacks for that
    std::atomic<bool> tracks_live{false};      ///< it needs the table of live tasks
    std::atomic<bool> devices{false};          ///< it records devices, too
    std::atomic<std::uint64_t> features{0};    ///< trace::session_features
    std::atomic<bool> collecting{true};        ///< toggled while it is live
    std::atomic<std::uint32_t> toggles{0};     ///< threads open a chunk after each
};

inline constexpr int session_slots = 8;
session* session_table() noexcept;

/// Generation of the session of all threads, 0 if there is none.
std::atomic<std::uint32_t>& global_generation() noexcept;

/// The live session of this generation, or null.
session* find_session(std::uint32_t generation) noexcept;

/// Whether a session is enabled for this thread, also one whose collection is switched off, or what takes its place.
bool is_enabled(const thread_state& thread) noexcept;

/// Generation of the session that the thread's context records into now, 0 if there is none.
std::uint32_t effective_generation(const thread_state& thread) noexcept;

/// That session, or null. It may end at any time: its store is reached by store_use only.
session* effective_session(const thread_state& thread) noexcept;

/// A thread's stay in the store of a live session, whose stop waits for its end, though not for ever.
class store_use {
public:
    store_use(thread_record& record, std::uint32_t generation) noexcept;
    ~store_use();
    store_use(const store_use&) = delete;
    store_use& operator=(const store_use&) = delete;

    /// The session, or null when it is over.
    session* owner() const noexcept { return owner_; }

private:
    thread_record& record_;
    std::uint32_t before_;
    session* owner_ = nullptr;
};

/// After a fork, in the child: no session goes on.
void forget_sessions() noexcept;

}  // namespace coroscope::runtime
