// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a task that is resumed in another task's suspension had waited for that task. A scheduler
// may take any ready task there.

#include <cstdint>
#include <vector>

#include "../records/task_records.hpp"

namespace coroscope::analysis::inline tasks {

class task_relations {
public:
    /// The causes of `ops` are known.
    task_relations(const growing_list<task_op>& ops, std::size_t tasks);

    /// Returns whether the op, which resumes a task after an await that began at `suspend_ns`, is
    /// that task's wake: the task resumes itself; or a descendant resumes it; or the resuming task
    /// has ended, and it ran for the first time because that await had handed it the thread.
    [[nodiscard]] bool is_wake(const task_op& resume, std::int64_t suspend_ns) const;

private:
    struct first_run {
        std::int64_t time_ns = unknown_time;
        std::uint32_t by = none;  // the task in whose suspension the task began
    };

    void take(const task_op& op);
    [[nodiscard]] bool is_descendant(std::uint32_t task, std::uint32_t of) const;

    std::vector<std::uint32_t> parents_;  // by task
    std::vector<first_run> first_runs_;   // by task
};

}  // namespace coroscope::analysis::inline tasks
