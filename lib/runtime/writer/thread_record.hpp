// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's data of one thread, and the thread's binding to each session.
//
//   thread_state (thread-local)  ──record──►  thread_record ──bindings──► session ──store──► chunks
//
// Threads: only its own thread touches a record, except members that name their other readers.

#include <atomic>
#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/trace/format.hpp>

#include "../base/own_memory.hpp"

// Defined by rooms above this one.
namespace coroscope::runtime {
struct outermost_frame;
inline namespace observers {
struct observer_cache;
}
inline namespace scopes {
struct open_pool;
}
}  // namespace coroscope::runtime

namespace coroscope::runtime::inline writer {

struct session;

/// The cursor of a thread without a chunk. It is greater than every limit: a signal handler may
/// give the chunk up after the interrupted record has read its limit.
inline char* no_place() noexcept { return reinterpret_cast<char*>(~std::uintptr_t{0} << 32); }

/// A thread's binding to one session. Only its thread writes it. Others read `generation`, and
/// `lost` under the registry's lock. The binding serves another session only after
/// release_binding().
struct binding {
    std::atomic<std::uint32_t> generation{0};
    session* owner = nullptr;
    trace::chunk_header* chunk = nullptr;
    char* begin = nullptr;   ///< the begin of this thread's records in `chunk`
    bool had_chunk = false;  ///< whether it had one in this session
    char* cursor = nullptr;
    trace::thread_body* body = nullptr;
    std::atomic<std::uint64_t> lost{0};  ///< a copy of the body's count, for a file that was cut
    std::uint32_t toggles = 0;           ///< the session's at the section's begin
};

/// The attributes that a thread's chunk describes already, if chunks are overwritten. Only a few
/// serials are kept, each at the index serial % 8. If another serial replaced an attribute's, the
/// attribute is described again.
struct told_attributes {
    std::uint64_t chunk = 0;  ///< its number
    std::uint32_t serials[8] = {};
    bool nothing = false;  ///< a new chunk does not begin with the attributes: context_change
};

/// The requests of one type since the last one that was recorded in full.
struct request_count {
    std::uint32_t type = 0;  ///< a hash of the type; 0 in a free place
    std::uint32_t since = 0;
};

/// The counts of this thread's requests. Each type has its own, until more types come than there
/// are places: the types after that share the places of others.
struct request_counts {
    std::uint32_t session = 0;  ///< generation
    request_count of_types[64] = {};
};

}  // namespace coroscope::runtime::inline writer

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
        nullptr;  ///< frame of the refill (or lock, leaving, …) under way, against re-entry
    runtime::binding bindings[binding_count];
    runtime::binding* current = nullptr;  ///< the one of the thread's cursor
    runtime::told_attributes told;
    runtime::request_counts requests;
    char nowhere[64];              ///< place_after_handler(): takes a record that is lost
    void* signal_stack = nullptr;  ///< signal_stack.hpp
    int exit_calls = 0;            ///< calls of the exit key's destructor, as the thread ends
    void* shape_room = nullptr;    ///< scopes/shapes.hpp; made when first needed
    runtime::observer_cache* observers =
        nullptr;  ///< the observers of this thread's scopes; made when first needed
    runtime::open_pool* open_scopes = nullptr;  ///< open_scopes.hpp; made when first needed
    runtime::outermost_frame* outermost =
        nullptr;  ///< the thread's work for Asio outside of handlers; made when first needed
    void (*drop_outermost)(thread_record& record) noexcept = nullptr;  ///< frees it
};

}  // namespace coroscope::detail

namespace coroscope::runtime::inline writer {

using detail::thread_record;
using detail::thread_state;

}  // namespace coroscope::runtime::inline writer
