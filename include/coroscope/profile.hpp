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

    // In torch's words; docs/profile_options.md says what each costs and what it does not do here.
    bool record_shapes = false;   ///< shapes and types of what COROSCOPE_ARGS offers
    bool with_flops = false;      ///< implies record_shapes
    bool profile_memory = false;  ///< what memory_resource and the operator new hook report
    bool with_stack = false;      ///< the call stack at each scope's beginning
    bool with_modules = false;    ///< the names that module_guard carries
    /// "cuda", "xpu", "mtia", "hpu" or "privateuse1"; see status().
    const char* use_device = nullptr;
    std::int64_t node_id = -1;  ///< of a distributed run
    /// Names the trace: up to 63 bytes, copied. Null: 32 random upper-case hexadecimal digits.
    const char* (*trace_id)() noexcept = nullptr;

    /// A descriptor that a fatal signal's async stack is written to, and into the trace; -1: off. Tracks live
    /// tasks. docs/trust.md says what becomes of the program's own handlers.
    int crash_report = -1;
};

/// Where a session stands.
enum class session_state : std::uint8_t { disabled, recording, refused, stopped };

struct session_status {
    session_state state = session_state::disabled;
    const char* message = "";        ///< why it was refused or is impaired: a literal, else empty
    int error_number = 0;            ///< errno behind it, 0 if none
    std::uint64_t lost_records = 0;  ///< so far, all reasons together
};

/// What a session took, in nanoseconds; events are counted by the analysis.
struct profile_statistics {
    std::int64_t enable_ns = 0;   ///< to start it
    std::int64_t window_ns = 0;   ///< from its start to its stop, or to now
    std::int64_t disable_ns = 0;  ///< to stop it
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

    /// Switches collection off and on inside the session, which goes on (torch:
    /// toggle_collection_dynamic). What begins while it is off is not recorded and not counted as lost; what
    /// was open at the switch keeps its times if it ends while collection is on. Other threads follow
    /// when they next record. Does nothing where no session records.
    COROSCOPE_API void toggle_collection(bool enabled) noexcept;

    COROSCOPE_API profile_statistics statistics() const noexcept;

private:
    friend class profile_child_thread;
    std::uint32_t generation_ = 0;
    std::uint32_t previous_session_ = 0;
    bool all_threads_ = false;
    session_status last_{};
    std::int64_t started_ns_ = 0;  ///< CLOCK_MONOTONIC
    profile_statistics took_{};
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
