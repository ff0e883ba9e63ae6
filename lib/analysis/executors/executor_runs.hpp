// SPDX-License-Identifier: Apache-2.0
#pragma once

// The jobs of executors: the enqueue and the run of each, and the executor of each slice.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline executor_answers {

/// A job in the queue of an executor.
struct queued_job {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    std::uint32_t executor = none;
    bool ran = false;  ///< false: to_ns is the end of its task or of the session
};

/// Returns the jobs whose enqueue is known, by task.
[[nodiscard]] std::vector<queued_job> find_queued_jobs(const trace& loaded);

/// A run of a task on its thread: a slice, or several. A task that resumes another one in the
/// middle of its own code stays on its thread's stack, so its slices before and after are one run.
struct executor_run {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t task = none;
    std::uint32_t thread = none;
    std::uint32_t first_slice = none;
    std::uint32_t slices = 1;
    std::uint32_t executor = none;
    bool is_job = false;  ///< the executor began it; false: it only went on with it
    /// The task that woke this one at the very moment of its resume: no executor queued it.
    std::uint32_t resumer = none;
};

/// Returns the runs by (thread, start), an enclosing run before those in it. A run that no executor
/// began belongs to the executor of the run in which it is nested, or whose end began it (a
/// symmetric transfer: at the same moment, or its task resumed this one as the thread's next).
[[nodiscard]] std::vector<executor_run> find_executor_runs(const trace& loaded);

}  // namespace coroscope::analysis::inline executor_answers
