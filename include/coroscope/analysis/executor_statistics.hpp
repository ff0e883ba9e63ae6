// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executors: their threads, the time for which jobs occupied the threads, and the queues. A job is
// one run of a task by an executor, from its enqueue to the end of its slice.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The tasks of one spawn site, by the time that they occupied an executor.
struct executor_occupant {
    std::uint32_t spawn_site = none;  ///< index into trace::sites
    std::uint32_t scope = none;       ///< their scope with the longest own time there: a string
    std::int64_t time_ns = 0;         ///< without other tasks on top of them; 0: no task ran
};

/// One executor.
struct executor_statistics {
    std::uint32_t executor = none;       ///< index into trace::executors
    std::vector<std::uint32_t> threads;  ///< those that ran its jobs: indices into trace::threads
    std::uint64_t jobs = 0;              ///< that it ran
    std::uint64_t waiting = 0;           ///< that were queued when the session ended
    /// The time for which its jobs occupied threads, added over the threads. If no state of a
    /// thread is known, all of `states` is unknown.
    std::int64_t busy_ns = 0;
    state_times states;
    /// From its first enqueue to the end of its last job.
    std::int64_t span_ns = 0;
    std::int64_t mean_length_hundredths = 0;  ///< length of its queue, over that time
    std::uint64_t p99_length = 0;             ///< it was not longer for 99 % of that time
    std::uint64_t max_length = 0;
    percentiles queued;          ///< from enqueue to run, of the jobs with a known enqueue
    std::int64_t queued_ns = 0;  ///< of all jobs, also of those that did not run
    /// The part of queued_ns in which all its threads were busy. A thread is busy if it runs a task
    /// of any executor; if its states are known, not while it is preempted. A strand is busy while
    /// one of its jobs runs, or all threads of its executor are busy.
    std::int64_t queued_while_busy_ns = 0;
    executor_occupant occupant;  ///< the tasks that occupied it longest
    double queued_share = 0;     ///< queued_ns as a part of that of all executors, 0 to 1
};

/// Returns whether the executor is too small for its jobs: on average at least one job was queued,
/// jobs waited longer than they ran, and more than half of that time passed while all threads were
/// busy. An executor with less than a hundredth of the queued time of all executors is not.
[[nodiscard]] COROSCOPE_API bool is_saturated(const executor_statistics& executor);

/// Returns the executors that ran or got a job. Those whose jobs waited longest while all threads
/// were busy come first.
[[nodiscard]] COROSCOPE_API std::vector<executor_statistics>
statistics_of_executors(const trace& loaded);

/// The length of a queue from a moment on.
struct queue_step {
    std::int64_t time_ns = 0;
    std::uint64_t length = 0;
};

/// Returns the lengths of the queue of each executor, by index into trace::executors. The first
/// length is not 0, and consecutive lengths differ.
[[nodiscard]] COROSCOPE_API std::vector<std::vector<queue_step>> queue_lengths(const trace& loaded);

/// Returns the name of an executor; if it has none, its kind and number: "thread_pool 2".
[[nodiscard]] COROSCOPE_API std::string name_of_executor(const trace& loaded,
                                                         std::uint32_t executor);

/// Returns the name of a kind, such as "strand"; "other" for a kind that this version does not
/// know.
[[nodiscard]] COROSCOPE_API std::string_view
name_of_kind(coroscope::trace::executor_kind kind) noexcept;

}  // namespace coroscope::analysis
