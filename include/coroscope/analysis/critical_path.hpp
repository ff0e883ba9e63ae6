// SPDX-License-Identifier: Apache-2.0
#pragma once

// The critical path of a task, or of a scope in a task: for each moment of its time, the work or
// the wait on which its end depended.
//
// The path is walked backwards from the end. While a task is on a thread, it runs. Before that it
// was queued, back to its wake. Before its wake it was suspended. If another task woke it, the path
// goes on in that task from the wake back to the suspension, and then returns. If the wake is
// unknown, but the awaited task is known and has ended, the path goes on in the awaited task from
// its end. If a wait for a lock or a resource is recorded and the work that ended it is known, the
// path goes on in that work, back to the begin of the wait. Before its first wake a task was not
// started, back to its spawn. Before its spawn the path goes on in the task that spawned it. The
// segments follow one another without gaps, so their lengths add up to the path's time exactly. If
// the trace does not show on what the end depended, the segment is of kind `waiting` or `unknown`.
//
// model.hpp describes times and indices. Thread-safety: pure functions, safe on any thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The state of the task of a segment.
enum class path_kind : std::uint8_t {
    running,    ///< on a thread whose state is unknown
    on_cpu,     ///< on a thread that was on a processor
    blocked,    ///< on a thread that waited in the kernel
    preempted,  ///< on a thread that could run, without a processor
    queued,     ///< ready, without a thread
    suspended,  ///< it waited for a wake that came from outside tasks: a timer, a socket, a device
    waiting,    ///< suspended or queued: its wake is unknown
    not_started,  ///< spawned, and not yet woken for the first time
    unknown       ///< records may be lost
};

/// "running", "on-CPU", "blocked", "preempted", "queued", "suspended", "waiting", "not started",
/// "unknown".
[[nodiscard]] COROSCOPE_API std::string_view name_of(path_kind kind) noexcept;

/// Work that explains a segment or a part of it. For a queued segment it is the work on each thread
/// of the executor meanwhile, by thread, task and scope; if the executor is unknown, on the thread
/// that later resumed the task. For a blocked segment it is the work of the thread that held the
/// lock.
struct path_blame {
    std::uint32_t thread = none;  ///< index into trace::threads
    std::uint32_t task = none;    ///< index into trace::tasks; none: no task ran on the thread
    std::uint32_t event = none;   ///< the innermost scope of that work: index into trace::events
    std::int64_t time_ns = 0;     ///< length of that work; for a blocked segment, the segment's
    /// The part of the segment that is charged to this work. While all threads were busy, they
    /// share the time equally. While some ran nothing, these share it. While the task's strand ran
    /// a job, that job has all of it. The charges of a segment do not exceed its length. They are
    /// less if the thread that ran the task next waited for work for 1 ms after it had run another
    /// one: until the end of these waits, the task was not in its queue, and nothing is charged.
    std::int64_t charged_ns = 0;
};

/// The reason why a path goes on in the work of another task or thread.
enum class path_edge : std::uint8_t {
    wake,      ///< it woke the waiting task, or made the result for which the thread waited
    end,       ///< its end ended the wait: the waiting task awaited or joined it
    lock,      ///< it held or released a lock
    resource,  ///< it held or released a resource
};

/// A wait of a task or a thread during which the path is in other work.
struct path_wait {
    path_kind kind = path_kind::suspended;  ///< suspended, waiting; blocked: a wait on a thread
    path_edge edge = path_edge::wake;
    std::int64_t start_ns = 0;  ///< the part of the wait that the path spends in other work
    std::int64_t end_ns = 0;
    std::uint32_t task = none;       ///< the waiting task: index into trace::tasks
    std::uint32_t thread = none;     ///< the waiting thread, in trace::threads; none for an await
    std::uint32_t event = none;      ///< the innermost scope there: index into trace::events
    std::uint32_t await = none;      ///< index into trace::awaits; none: the thread waited
    std::uint32_t through = none;    ///< the wait around it: index into critical_path::waits
    std::uint32_t resource = none;   ///< index into trace::resource_waits, if the edge is one
    std::uint64_t lock_address = 0;  ///< if the edge is a lock
    coroscope::trace::lock_kind lock = coroscope::trace::lock_kind::unknown;
};

/// One piece of a path.
struct path_segment {
    path_kind kind = path_kind::unknown;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint32_t thread = none;  ///< its thread: index into trace::threads; none: it did not run
    std::uint32_t event = none;   ///< the task's innermost scope: index into trace::events
    std::uint32_t await = none;   ///< index into trace::awaits; none: it ran or had not started
    index_range blame{};          ///< indices into critical_path::blame, the largest charge first
    /// The wait that led the path here: index into critical_path::waits. none: the segment is in
    /// the task or thread in which the path ends, or in a task that led to its spawn.
    std::uint32_t through = none;
    [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - start_ns; }
};

/// A path: segments by time, without gaps, from start_ns to end_ns.
struct critical_path {
    /// The task in which the path ends: index into trace::tasks; none outside tasks.
    std::uint32_t task = none;
    /// The scope whose end the path explains: index into trace::events; none: the task's end.
    std::uint32_t event = none;
    std::uint64_t request = 0;  ///< request_info::id; 0: the path was not asked for by a request
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::vector<path_segment> segments{};
    std::vector<path_blame> blame{};
    std::vector<path_wait> waits{};  ///< a wait comes after the wait around it
    [[nodiscard]] std::int64_t wall_ns() const noexcept { return end_ns - start_ns; }
};

/// The path of a task (an index into trace::tasks) from its first wake to its end, or to the
/// session's end. Empty if the task never became ready. Takes O(n) steps for n events and slices,
/// and memory for the path and the tasks on it.
[[nodiscard]] COROSCOPE_API critical_path critical_path_of_task(const trace& loaded,
                                                                std::uint32_t task);

/// The path of a scope (an index into trace::events) from its start to its end. A scope outside
/// tasks has one segment for each state of its thread.
[[nodiscard]] COROSCOPE_API critical_path critical_path_of_scope(const trace& loaded,
                                                                 std::uint32_t event);

/// The extent of paths.
struct path_options {
    /// Whether the path goes on in the holder of the lock or resource for which a thread or a task
    /// waited. If not, the waiting segment stays, and its blame names the holder.
    bool through_holders = true;
    bool blame = true;  ///< false: critical_path::blame stays empty, which is faster
};

/// Returns the paths of requests, from their starts to their ends. Takes O(n log n) steps for n
/// events and slices, whatever the number of requests, and steps in proportion to the paths.
[[nodiscard]] COROSCOPE_API std::vector<critical_path>
critical_paths(const trace& loaded, std::span<const request_info> requests,
               const path_options& options = {});

/// Calls `use` for the path of each request, in their order. As critical_paths(), but holds only a
/// part of the paths at a time.
COROSCOPE_API void for_each_critical_path(const trace& loaded,
                                          std::span<const request_info> requests,
                                          const path_options& options,
                                          const std::function<void(const critical_path&)>& use);

/// The same, but begins no path after so many segments and waits in all. Returns the number of the
/// paths.
COROSCOPE_API std::size_t
for_each_critical_path(const trace& loaded, std::span<const request_info> requests,
                       const path_options& options, std::size_t most_segments,
                       const std::function<void(const critical_path&)>& use);

}  // namespace coroscope::analysis
