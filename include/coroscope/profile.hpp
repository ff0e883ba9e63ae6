// SPDX-License-Identifier: Apache-2.0
#pragma once

// profile: one recording, from construction to stop() or the end of the block.
//
//   coroscope::profile session{{.output = "trace.cst"}};      // this thread and the work it spawns
//   coroscope::profile session{{.all_threads = true}};  // every thread of the process, in memory
//   … session.stop() … coroscope::analysis::load(…)
//
// A session never throws, and its failures do not affect the program: status() reports them. Only
// one session may record on a thread. A second one is refused with "Profiler is already enabled on
// this thread." A session started by the environment (COROSCOPE_TRACE=file) records all threads; a
// session in the code is then refused, and the message of its status names that file.
//
// With COROSCOPE_ENABLED=0 a session starts nothing, needs no library, and its state is `disabled`.

#include <cstddef>
#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/file_name.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope {

/// The behaviour of a session when no free chunk is left.
enum class overflow : std::uint8_t {
    drop_newest,       ///< lose new records until there is room again
    overwrite_oldest,  ///< lose the oldest records: a flight recorder
    wait,              ///< block the thread until there is room (at the hand-over of a chunk only)
};

/// The default bound of a trace, in bytes.
inline constexpr std::size_t default_limit_bytes = std::size_t{1} << 30;

/// The options of a session. Pointers must be valid while the constructor of a profile runs; those
/// of a scheduled_profile, as long as it lives.
struct profile_options {
    /// The trace file, as a C string or a string object (std::string, std::filesystem::path), which
    /// is copied; null keeps the trace in memory.
    detail::file_name output{};
    bool enabled = true;            ///< false: the session does nothing
    bool all_threads = false;       ///< record every thread of the process
    bool record_arguments = false;  ///< capture the arguments of COROSCOPE_ARGS
    overflow policy = overflow::drop_newest;
    /// Bound of the whole trace. 0: default_limit_bytes, but at most an eighth of the memory that
    /// the process's container (its control groups) may use.
    std::size_t limit_bytes = 0;
    /// the block of records that a thread owns; a multiple of 4096
    std::uint32_t chunk_bytes = 32768;

    // Torch's options. docs/reference/profile_options.md describes the cost and the limits of each.
    bool record_shapes = false;   ///< shapes and types of the arguments of COROSCOPE_ARGS
    bool with_flops = false;      ///< implies record_shapes
    bool profile_memory = false;  ///< the reports of memory_resource and the operator new hook
    bool with_stack = false;      ///< the call stack at each scope's beginning
    bool with_modules = false;    ///< the names carried by module_guard
    /// "cuda", "xpu", "mtia", "hpu" or "privateuse1"; see status().
    const char* use_device = nullptr;
    std::int64_t node_id = -1;  ///< of a distributed run
    /// Returns the name of the trace, of which up to 63 bytes are copied. Null: the name is 32
    /// random upper-case hexadecimal digits.
    const char* (*trace_id)() noexcept = nullptr;

    /// A file descriptor; -1: off. At a fatal signal the async stack is written to it, and into the
    /// trace. The option enables the tracking of live tasks. docs/reference/trust.md describes its
    /// effect on the program's own signal handlers.
    int crash_report = -1;

    /// Names the scopes that have not ended when the session stops or the process dies. A scope
    /// then costs more; see docs/concepts/overhead.md. COROSCOPE_OPEN_SCOPES=1 in the environment
    /// sets it for every session.
    bool open_scopes = false;

    /// Records when each thread was on a processor, preempted, or waiting in the kernel. A thread
    /// of the recorder does this; the recorded threads do nothing for it. Has an effect only in a
    /// session of all threads.
    bool thread_states = true;

    /// One of so many requests of each type (request.hpp) is recorded in full, at most 65,536; of
    /// the others, the request itself is recorded and nothing below it. 0 and 1: all are recorded
    /// in full. If the policy is overwrite_oldest, each request with a deadline is recorded in
    /// full, too. See docs/how-to/requests.md.
    std::uint32_t request_interval = 1;

    /// The processor time that recording may take, in per cent of the process's; 0: no limit. Above
    /// the limit the session raises the interval of requests by itself. Below the limit it lowers
    /// the interval again, down to request_interval. Records outside requests are not reduced.
    double budget_percent = 0;

    /// Begins a new file as soon as the current one has so many bytes; 0: the session has one file.
    /// `output` then names the files: trace.cst stands for trace.1.cst, trace.2.cst and so on, each
    /// a complete trace. The numbers go on behind the files that exist. Needs an output file,
    /// all_threads, and a policy other than overwrite_oldest; replaces limit_bytes. 1 MiB or more.
    /// See docs/reference/profile_options.md.
    std::size_t rotate_bytes = 0;

    /// The number of these files that are kept, at least 1. The oldest ones are removed.
    std::uint32_t keep_files = 4;
};

/// The state of a session.
enum class session_state : std::uint8_t { disabled, recording, refused, stopped };

/// The state of a session, with the reason of a refusal or impairment.
struct session_status {
    session_state state = session_state::disabled;
    const char* message = "";  ///< the reason of a refusal or impairment: a literal; else empty
    int error_number = 0;      ///< the errno of the failed call; 0: none
    std::uint64_t lost_records = 0;  ///< so far, for all reasons together
};

/// Durations of a session's steps, in nanoseconds. The analysis counts events.
struct profile_statistics {
    std::int64_t enable_ns = 0;   ///< of the start
    std::int64_t window_ns = 0;   ///< from the start to the stop, or to now
    std::int64_t disable_ns = 0;  ///< of the stop
};

}  // namespace coroscope

#if COROSCOPE_ENABLED

namespace coroscope {

/// Not thread-safe. The thread that starts a session must also stop it; a task may have moved to
/// other threads in between.
class [[nodiscard]] profile {
public:
    /// Starts the session unless `options.enabled` is false. If it is refused, it records nothing,
    /// and status() has the reason.
    [[nodiscard("the session ends at once: name it, as in `coroscope::profile session({…});`")]]
    COROSCOPE_API explicit profile(const profile_options& options = {}) noexcept;
    COROSCOPE_API ~profile();
    profile(const profile&) = delete;
    profile& operator=(const profile&) = delete;

    /// Returns the current state; after stop(), the state at the stop.
    COROSCOPE_API session_status status() const noexcept;

    /// Ends the session. A session in memory returns its trace. A session with an output file
    /// leaves the trace there and returns an empty buffer. A second stop returns an empty buffer
    /// and changes nothing.
    COROSCOPE_API trace::buffer stop() noexcept;

    /// Switches collection off and on inside the session, which goes on (torch:
    /// toggle_collection_dynamic). Scopes that begin while it is off are not recorded and do not
    /// count as lost. A scope that was open at the switch keeps its times if it ends while
    /// collection is on. Other threads follow when they next record. Does nothing if the session
    /// does not record.
    COROSCOPE_API void toggle_collection(bool enabled) noexcept;

    /// Returns the durations of the session's steps so far.
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

/// Joins this thread to a session of another thread until the end of the block. For std::async and
/// raw threads, to which no context is carried (torch: enableProfilerInChildThread). It must begin
/// and end on the joining thread. If it is refused, it does nothing, and status() has the reason:
/// "Profiler is not enabled in main thread." or "Profiler is already enabled on this thread."
class [[nodiscard]] profile_child_thread {
public:
    /// Joins the session of a profile on the process's main thread.
    [[nodiscard("the thread leaves the session at once: name this object")]]
    COROSCOPE_API profile_child_thread() noexcept;
    /// Joins `session`, which must be started before this object begins and stopped after it ends.
    [[nodiscard("the thread leaves the session at once: name this object")]]
    COROSCOPE_API explicit profile_child_thread(const profile& session) noexcept;
    COROSCOPE_API ~profile_child_thread();
    profile_child_thread(const profile_child_thread&) = delete;
    profile_child_thread& operator=(const profile_child_thread&) = delete;

    COROSCOPE_API session_status status() const noexcept;

private:
    void join(std::uint32_t generation) noexcept;
    std::uint32_t generation_ = 0;  ///< of the joined session; 0: refused
    session_status refusal_{};
};

}  // namespace coroscope

#else

namespace coroscope {
namespace detail {
inline namespace COROSCOPE_ABI {
inline constexpr session_status compiled_out{session_state::disabled,
                                             "Compiled with COROSCOPE_ENABLED=0.", 0, 0};
}  // namespace COROSCOPE_ABI
}  // namespace detail

// Types of their own, which other translation units of the program do not share.
inline namespace disabled {

/// Records nothing.
class [[nodiscard]] profile {
public:
    [[nodiscard("the session ends at once: name it, as in `coroscope::profile session({…});`")]]
    explicit profile(const profile_options& = {}) noexcept {}
    ~profile() {}
    profile(const profile&) = delete;
    profile& operator=(const profile&) = delete;

    session_status status() const noexcept { return detail::compiled_out; }
    trace::buffer stop() noexcept { return {}; }
    void toggle_collection(bool) noexcept {}
    profile_statistics statistics() const noexcept { return {}; }
};

/// Joins nothing.
class [[nodiscard]] profile_child_thread {
public:
    [[nodiscard("the thread leaves the session at once: name this object")]]
    profile_child_thread() noexcept {}
    [[nodiscard("the thread leaves the session at once: name this object")]]
    explicit profile_child_thread(const profile&) noexcept {}
    ~profile_child_thread() {}
    profile_child_thread(const profile_child_thread&) = delete;
    profile_child_thread& operator=(const profile_child_thread&) = delete;

    session_status status() const noexcept { return detail::compiled_out; }
};

}  // namespace disabled
}  // namespace coroscope

#endif
