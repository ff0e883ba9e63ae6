// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles tasks that run on top of another task, or in its place. Adds an await to each interrupted
// task, and finds awaited tasks that no record names.

#include <cstdint>
#include <vector>

#include "thread_timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

/// The hand-overs of all threads, by task.
class hand_over_list {
public:
    /// Takes the hand-overs of the first `tasks` tasks out of the timelines.
    hand_over_list(std::vector<timeline>& timelines, std::uint32_t tasks);

    /// Adds an await for each hand-over of `task`. The caller must call it once for each task, in
    /// order, after it added the task's other awaits from `first_await` on. All of the task's
    /// awaits are then in order. `info` is the task: if it runs, and its last hand-over is open, it
    /// becomes suspended.
    void add_awaits(std::uint32_t task, task_info& info, std::size_t first_await, trace& loaded);

private:
    static await_info await_of(const hand_over& from, std::int64_t last_ns);
    void merge_from(std::size_t first, packed_list<await_info>& awaits) const;

    std::vector<hand_over> all_;     // by task and start
    std::vector<await_info> added_;  // of one task
    std::size_t next_ = 0;
};

/// A task, and the await during whose suspension it began and ended, which is presumed to have
/// waited for it.
struct presumed_task {
    std::uint32_t task = none;   ///< index into trace::tasks
    std::uint32_t await = none;  ///< index into trace::awaits
};

/// Sets the awaited task of awaits and the awaiter of tasks. `started_by` has for each task the
/// result of life_builder::started_by(). Task A awaits task T if T ended before A went on, and at
/// least two of these hold: T ran first during the suspension of A's await; the end of T resumed A;
/// A created T. So a join awaits all of its tasks. Returns the tasks that no wake shows to be
/// awaited, by their ends.
std::vector<presumed_task> name_awaited_tasks(const std::vector<std::uint32_t>& started_by,
                                              trace& loaded);

}  // namespace coroscope::analysis::inline tasks
