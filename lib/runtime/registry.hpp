// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who records where: the process's threads, and what each has in a session.
//
//   thread_state (thread-local)  ──record──►  thread_record ──bindings──►  session ──store──► chunks
//
// A thread is registered when it first meets the runtime while its gate is unknown. It gets a
// binding per session (session_table.hpp) that it records into: its thread body in the trace and the
// chunk it owns, which refill.hpp changes for another.
//
// Locks: registry_mutex() guards the list of threads, the table of sessions and the gates' global
// bit. Recording threads take it once per session, when they bind; never per record.

#include <atomic>
#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/trace/format.hpp>

#include "own_memory.hpp"
#include "quiet_mutex.hpp"
#include "session_table.hpp"

namespace coroscope::runtime {

struct observer_cache;
struct outermost_frame;

/// Where a thread without a chunk would write: beyond every limit, also beyond one that a record under way has read
/// already when a signal handler leaves the chunk.
inline char* no_place() noexcept { return reinterpret_cast<char*>(~std::uintptr_t{0} << 32); }

/// What a thread has in one session. Touched by its thread; `generation` is read by others, and `lost` under the registry's
/// lock: it is another session's only after release_binding().
struct binding {
    std::atomic<std::uint32_t> generation{0};
    session* owner = nullptr;
    trace::chunk_header* chunk = nullptr;
    char* cursor = nullptr;
    trace::thread_body* body = nullptr;
    std::atomic<std::uint64_t> lost{
        0};                     ///< as the body counts it, which a file that is cut takes along
    std::uint32_t toggles = 0;  ///< the session's, when `chunk` was opened
};

/// Which attributes a thread's chunk tells of, where chunks are overwritten: a few serials, each at its remainder. One that
/// another took the place of is told of again.
struct told_attributes {
    std::uint64_t chunk = 0;  ///< its number
    std::uint32_t serials[8] = {};
    bool nothing = false;  ///< nothing is said of a chunk that is opened now: attribute_nodes.hpp
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
    const void* refilling =
        nullptr;  ///< frame of the refill under way: guards against re-entry (signal handlers, allocators)
    runtime::binding bindings[binding_count];
    runtime::binding* current = nullptr;  ///< the one that the thread's cursor belongs to
    runtime::told_attributes told;
    char nowhere[64];              ///< where records go that came too late to be given up
    void* signal_stack = nullptr;  ///< crash_report.hpp
    runtime::observer_cache* observers =
        nullptr;  ///< what sees this thread's scopes; made when first needed
    runtime::outermost_frame* outermost =
        nullptr;  ///< what the thread does for Asio outside of handlers; made when first needed
};

}  // namespace coroscope::detail

namespace coroscope::runtime {

using detail::thread_record;
using detail::thread_state;

quiet_mutex& registry_mutex() noexcept;
thread_record* first_thread() noexcept;  ///< under the lock

/// The thread's record, made if need be; null when it has left already or memory is short.
thread_record* register_thread(thread_state& thread) noexcept;

/// The thread is done with a session, which goes on or is over: it, or its stop, is told what the thread lost.
void release_binding(binding& bound) noexcept;

/// Frees what the calling thread, which ends, kept for Asio.
void drop_outermost(thread_record& record) noexcept;

/// gate_slow_clock where the counter is no clock.
std::int32_t clock_gate() noexcept;

/// The bits beside gate_local or gate_global that a session asks for.
std::int32_t session_gate(const session& recording) noexcept;

/// Sets and clears bits of a thread's gate, from any thread; a gate with no session left is closed.
void change_gate(thread_state& thread, std::int32_t set, std::int32_t clear) noexcept;

/// The last place where a record may begin. Who changes the cursor clears it first: a signal handler may record at any
/// moment.
void set_limit(thread_state& thread, char* limit) noexcept;
void clear_limit(thread_state& thread) noexcept;

/// Brings the thread's gate and cursor in line with its context. Lock-free.
void update_gate(thread_state& thread) noexcept;

/// Whether the session that this thread records into was asked for that. False outside sessions.
bool wants(std::uint64_t feature) noexcept;

/// Lets threads see the gates of a session that collects (again): all threads, at once.
void open_gates(const session& recording, bool all_threads) noexcept;

/// Whether a thread, but for that one, uses the store of this session. Under the lock.
bool is_used(std::uint32_t generation, const thread_record* but = nullptr) noexcept;

/// Waits until no other thread uses the store of this session any more, but not for ever. This one may: it is in a signal
/// handler then.
void wait_until_unused(std::uint32_t generation) noexcept;

/// Takes the chunks away from all threads: their next record goes the slow way.
void cut_off(std::uint32_t generation) noexcept;

/// The same without an end: the next record of each thread goes the slow way.
void take_limits() noexcept;

/// After a fork, in the child: forgets all threads but this one, and all sessions.
void reset_after_fork() noexcept;

}  // namespace coroscope::runtime
