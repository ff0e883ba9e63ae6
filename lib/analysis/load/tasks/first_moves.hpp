// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first record about each task, and the tasks that began within the session.

#include <cstdint>
#include <vector>

#include "../records/task_records.hpp"

namespace coroscope::analysis::inline tasks {

/// Returns whether the record ends a run of its task on the record's thread.
[[nodiscard]] bool leaves_thread(const task_op& op);

class first_moves {
public:
    /// Keeps a reference to `ops`. Their causes may change meanwhile.
    first_moves(const growing_list<task_op>& ops, std::size_t tasks);

    /// Returns whether the task is older than the session and no record before `op` names it.
    [[nodiscard]] bool begins_with(std::uint32_t task, std::uint32_t op) const {
        return !spawned_[task] && (first_[task] == none || follows(first_[task], op));
    }

    /// The records by which tasks that are older than the session leave a thread, if no earlier
    /// record names the task: indices into ops, in ascending order.
    [[nodiscard]] std::vector<std::uint32_t> find_leaving() const;

private:
    void take(const task_op& op, std::uint32_t at, std::vector<std::int64_t>& first_ns);
    [[nodiscard]] bool before(std::uint32_t left, std::uint32_t right) const;
    [[nodiscard]] bool follows(std::uint32_t later, std::uint32_t op) const;

    const growing_list<task_op>& ops_;
    std::vector<std::uint32_t> first_;  // by task: index into ops
    std::vector<bool> spawned_;
};

}  // namespace coroscope::analysis::inline tasks
