// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who records where: the process's threads and its sessions.
//
//   thread_state (thread-local)  ──record──►  thread_record ──bindings──►  session ──store──► chunks
//
// A thread is registered when it first meets the runtime while its gate is unknown. It gets a
// binding per session that it records into: its thread body in the trace and the chunk it owns.
// Sessions stand in a fixed table and are named by a generation that is never reused, so that a
// context from an old session finds nothing instead of freed memory.
//
// Locks: registry_mutex() guards the list of threads, the table of sessions and the gates' global
// bit. Recording threads take it once per session, when they bind; never per record.

#include <atomic>
#include <cstdint>
#include <mutex>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/trace/format.hpp>

#include "chunk_store.hpp"
#include "own_memory.hpp"

namespace coroscope::runtime {

struct observer_cache;

struct session {
    std::atomic<std::uint32_t> generation{0};  ///< 0: the slot is free
    std::atomic<bool> live{false};
    std::atomic<std::uint64_t> late_records{0};  ///< arrived after the stop began
    std::atomic<std::uint64_t> lost_records{0};  ///< lost by threads that could not reach the store
    std::atomic<std::uint64_t> departed_losses{0};  ///< records dropped by threads that are gone
    chunk_store* store = nullptr;  ///< recording threads reach it by store_use only
    std::atomic<std::uint64_t> start_ticks{0};
    std::atomic<bool> record_arguments{false};
    std::atomic<bool> task_table{false};
    std::atomic<bool> reports_crashes{false};  ///< its threads get stacks for that
    std::atomic<bool> tracks_live{false};      ///< it needs the table of live tasks
    std::atomic<bool> devices{false};         ///< it records devices, too
    std::atomic<std::uint64_t> features{0};   ///< trace::session_features
    std::atomic<bool> collecting{true};       ///< toggled while it is live
    std::atomic<std::uint32_t> toggles{0};    ///< threads open a chunk after each
};

/// What a thread has in one session. Touched by its thread; `generation` is read by others.
struct binding {
    std::atomic<std::uint32_t> generation{0};
    session* owner = nullptr;
    trace::chunk_header* chunk = nullptr;
    char* cursor = nullptr;
    trace::thread_body* body = nullptr;
    std::uint32_t toggles = 0;  ///< the session's, when `chunk` was opened
};

}  // namespace coroscope::runtime

namespace coroscope::detail {

struct thread_record : runtime::own_memory {
    static constexpr int binding_count = 4;

    thread_state* state = nullptr;  ///< null once the thread is gone
    thread_record* next = nullptr;
    std::uint32_t id = 0;
    std::uint32_t os_id = 0;  ///< the kernel's
    std::uint32_t label_serial = 0;
    std::int64_t sequence = 0;  ///< number of the deferred work that is created next
    std::uintptr_t stack_low = 0;
    std::uintptr_t stack_bytes = 0;
    std::atomic<std::uint32_t> busy{0};  ///< generation of the session whose store it is using
    bool refilling = false;              ///< guards against re-entry (signal handlers, allocators)
    runtime::binding bindings[binding_count];
    runtime::binding* current = nullptr;  ///< the one that the thread's cursor belongs to
    char nowhere[64];  ///< where records go that came too late to be given up
    void* signal_stack = nullptr;  ///< crash_report.hpp
    runtime::observer_cache* observers = nullptr;  ///< what sees this thread's scopes; made when first needed
};

}  // namespace coroscope::detail

namespace coroscope::runtime {

using detail::thread_record;
using detail::thread_state;

inline constexpr int session_slots = 8;
session* session_table() noexcept;
std::mutex& registry_mutex() noexcept;
thread_record* first_thread() noexcept;  ///< under the lock

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

/// A thread's stay in the store of a live session, whose stop waits for its end.
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

/// The thread's record, made if need be; null when it has left already or memory is short.
thread_record* register_thread(thread_state& thread) noexcept;

/// The bits beside gate_local or gate_global that a session asks for.
std::int32_t session_gate(const session& recording) noexcept;

/// Sets and clears bits of a thread's gate, from any thread; a gate with no session left is closed.
void change_gate(thread_state& thread, std::int32_t set, std::int32_t clear) noexcept;

/// Brings the thread's gate and cursor in line with its context. Lock-free.
void update_gate(thread_state& thread) noexcept;

/// Makes room for 64 bytes at the thread's cursor and returns it, or counts `records` lost and
/// returns null. Hands the full chunk over and takes another; binds the thread to its session first
/// if need be.
char* refill(thread_state& thread, unsigned records) noexcept;

/// Largest number of bytes that may be written at a cursor below the limit.
inline constexpr std::size_t guaranteed_bytes = 64;
inline constexpr std::size_t limit_distance = guaranteed_bytes - trace::record_unit_bytes;

/// Makes room for `bytes` (more than guaranteed_bytes, less than a chunk).
char* refill_bytes(thread_state& thread, std::size_t bytes) noexcept;

/// Whether the session that this thread records into was asked for that. False outside sessions.
bool wants(std::uint64_t feature) noexcept;

/// Lets threads see the gates of a session that collects (again): all threads, at once.
void open_gates(const session& recording, bool all_threads) noexcept;

/// Waits until no thread uses the store of this session any more.
void wait_until_unused(std::uint32_t generation) noexcept;

/// Takes the chunks away from all threads: their next record goes the slow way.
void cut_off(std::uint32_t generation) noexcept;

/// After a fork, in the child: forgets all threads but this one, and all sessions.
void reset_after_fork() noexcept;

}  // namespace coroscope::runtime
