// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the stack of each thread before its first record. A session may start while tasks run on
// top of other tasks: an eager child, a generator or a task that was resumed in place.
//
// A task that was resumed while no session recorded has no context on its thread. Until it leaves,
// records name the frame below in its place. Its frame is called *quiet*. No record shows that a
// task of this stack came to its thread, and each task leaves after all tasks above it. So the
// tasks that leave a thread without having come to it form the stack, from the top to the bottom.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../records/task_records.hpp"
#include "first_moves.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

enum class first_kind : std::uint8_t {
    slice,  ///< it ran there: a record shows that it left
    found,  ///< it was current. No record shows that it left: it may have been in its await_suspend
    context,  ///< it was current, but did not run
};

struct first_frame {
    std::uint32_t task = none;
    first_kind kind = first_kind::slice;
    bool quiet = false;
};

/// The stack of one thread.
struct first_run {
    std::vector<first_frame> frames;  ///< the lowest first
    /// The time from which on the stack is known: the start of the session or, in a session of some
    /// threads, the time at which the thread joined.
    std::int64_t since_ns = 0;
};

class first_runs {
public:
    /// Finds the stack of each thread. If the trace lost records, a stack is the task that the
    /// first chunk names. Sets the task of each stream's first op to the one that was found there,
    /// or to `none`.
    first_runs(task_records& records, const trace& loaded);

    [[nodiscard]] const first_run& of(std::size_t stream) const { return by_stream_[stream]; }

    /// Returns true if the task came to a thread while the session did not record it: no record was
    /// lost, and no record before `op` brings the task to a thread.
    [[nodiscard]] bool came_unseen(std::uint32_t task, std::uint32_t op) const {
        return task != none && !lost_any_ && moves_.begins_with(task, op);
    }

private:
    first_moves moves_;
    bool lost_any_;
    std::vector<first_run> by_stream_;
};

/// Returns whether the trace lost records. If it did, a missing record proves nothing.
[[nodiscard]] bool lost_any(const trace& loaded);

}  // namespace coroscope::analysis::inline tasks
