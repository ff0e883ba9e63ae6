// SPDX-License-Identifier: Apache-2.0
#pragma once

// profile: one recording, from construction to stop() or the end of the block.
//
//   coroscope::profile session{{.output = "trace.cst"}};      // this thread and the work it spawns
//   coroscope::profile session{{.all_threads = true}};        // every thread of the process, in memory
//   … session.stop() … coroscope::analysis::load(…)
//
// A session never throws and never hurts its host: what it could not do stands in status(). Only one
// session may record on a thread: a second is refused with "Profiler is already enabled on this
// thread." A session started by the environment (COROSCOPE_TRACE=file) records all threads and wins
// over one in the code, which is then refused.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope {

/// What a session does when no free chunk is left.
enum class overflow : std::uint8_t {
    drop_newest,       ///< lose what comes now, until there is room again
    overwrite_oldest,  ///< lose what is oldest: a flight recorder
    wait,              ///< block the thread until there is room (at the hand-over of a chunk only)
};

struct profile_options {
    const char* output = nullptr;   ///< trace file; null keeps the trace in memory
    bool enabled = true;            ///< false: the session does nothing
    bool all_threads = false;       ///< record every thread of the process
    bool record_arguments = false;  ///< capture what COROSCOPE_ARGS offers
    overflow policy = overflow::drop_newest;
    std::size_t limit_bytes = std::size_t{1} << 30;  ///< bound of the whole trace
    std::uint32_t chunk_bytes = 32768;  ///< what a thread owns at a time; a multiple of 4096
};

/// Where a session stands.
enum class session_state : std::uint8_t { disabled, recording, refused, stopped };

struct session_status {
    session_state state = session_state::disabled;
    const char* message = "";        ///< why it was refused or is impaired: a literal, else empty
    int error_number = 0;            ///< errno behind it, 0 if none
    std::uint64_t lost_records = 0;  ///< so far, all reasons together
};

/// Not thread-safe; start and stop on one thread (a task may have hopped in between).
class profile {
public:
    COROSCOPE_API explicit profile(const profile_options& options = {}) noexcept;
    COROSCOPE_API ~profile();
    profile(const profile&) = delete;
    profile& operator=(const profile&) = delete;

    COROSCOPE_API session_status status() const noexcept;

    /// Ends the session. A session in memory hands over its trace; one in a file leaves it there and
    /// returns an empty buffer. Stopping twice returns an empty buffer and changes nothing.
    COROSCOPE_API trace::buffer stop() noexcept;

private:
    friend class profile_child_thread;
    std::uint32_t generation_ = 0;
    std::uint32_t previous_session_ = 0;
    bool all_threads_ = false;
    session_status last_{};
};

/// A thread joins a session of another thread, from here to the end of the block: for std::async and raw
/// threads, to which no context follows (torch: enableProfilerInChildThread). It begins and ends on the
/// thread that joins, and does nothing where it is refused, which status() tells:
/// "Profiler is not enabled in main thread." or "Profiler is already enabled on this thread."
class profile_child_thread {
public:
    /// Joins the session that a profile on the process's main thread records.
    COROSCOPE_API profile_child_thread() noexcept;
    /// Joins this one. It is started before and stopped after.
    COROSCOPE_API explicit profile_child_thread(const profile& session) noexcept;
    COROSCOPE_API ~profile_child_thread();
    profile_child_thread(const profile_child_thread&) = delete;
    profile_child_thread& operator=(const profile_child_thread&) = delete;

    COROSCOPE_API session_status status() const noexcept;

private:
    void join(std::uint32_t generation) noexcept;
    std::uint32_t generation_ = 0;  ///< of the session that was joined; 0: refused
    session_status refusal_{};
};

}  // namespace coroscope
