// SPDX-License-Identifier: Apache-2.0
#pragma once

// What ran on each thread before its first record of it: a session may start inside a running task.
//
// The first chunk of a thread names the task that was current there. A task that was resumed while nobody recorded is
// not current by name: that it ran is known when it leaves the thread, as the first thing that is told of it. So is what
// that task interrupts: it is named when the thread returns to it.

#include <cstdint>
#include <vector>

#include "task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

struct first_run {
    std::uint32_t task = none;  ///< index into trace::tasks; none: the thread itself
    std::int64_t since_ns =
        0;                 ///< in a session of all threads its start, else when this thread joined
    bool unnamed = false;  ///< until it leaves, records call it no task
    /// What it interrupts, the nearest first. All of it ran there as long.
    std::vector<std::uint32_t> below;
};

/// By stream. Of a trace that lost records none that is unnamed or interrupted: what a task did before may be among
/// them.
std::vector<first_run> find_first_runs(const task_records& records, const trace& loaded);

/// Whether the trace lost records, so that what is missing need not have been so.
[[nodiscard]] bool lost_any(const trace& loaded);

}  // namespace coroscope::analysis::loading
