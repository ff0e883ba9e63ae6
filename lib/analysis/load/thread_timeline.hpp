// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who ran when on one thread, from its task records.
//
// A thread holds a stack of frames: at the bottom the thread itself, on it the slices of tasks, a
// nested one (an eager child, a generator, an inline resume) above the slice that it interrupts. A
// *context* frame attributes scopes to a task without being a slice of it; a *job* frame is an
// executor's job that only resumed others. Both leave their time to the slice below.
//
// A slice's *own* time is its length less that of the slices nested in it: at any moment exactly one
// frame of a thread owns the time, so that own times never add up to more than the thread's wall.
//
// Records may be missing. Each names the task that it found or left; where that is not the frame on
// top, the stack is brought to it, what had to be guessed ends at the last moment known, and the
// tasks concerned are marked. A task that is found so may be in its await_suspend, where it does not run: that it ran
// is known when it leaves.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "first_runs.hpp"
#include "task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// From `time_ns` on, and for scopes that stand behind `position` in the stream, ...
struct switch_point {
    std::int64_t time_ns = 0;
    std::int64_t own_before_ns = 0;  ///< own time of `group`'s frame up to here
    std::uint32_t position = 0;
    std::uint32_t group = none;  ///< ... this task owns the time; none: the thread itself
    std::uint32_t task = none;   ///< ... scopes belong to this task
};

struct owned_slice {
    slice run;
    std::int64_t own_ns = 0;
    /// The task was current and is not told to have left: it ran there unless it went on elsewhere.
    bool guessed = false;
};

struct timeline {
    std::vector<switch_point> switches;  ///< at least one; the first holds from the beginning
    std::vector<owned_slice> slices;     ///< in the order in which they ended

    /// The index of the switch in force at a position of the stream. Fastest near `hint`, an index.
    [[nodiscard]] std::size_t in_force(std::uint32_t position, std::size_t hint) const;

    /// Where the positions end at which a switch is in force.
    [[nodiscard]] std::uint32_t end_of(std::size_t at) const {
        return at + 1 < switches.size() ? switches[at + 1].position : none;
    }

    /// Own time of `group` between two moments of one of its slices (or outside all slices). `last` is
    /// the index of the switch in force at `to_ns` or later.
    [[nodiscard]] std::int64_t own_between(std::uint32_t group, std::int64_t from_ns,
                                           std::int64_t to_ns, std::size_t last) const;

private:
    [[nodiscard]] std::size_t find(std::uint32_t group, std::int64_t moment_ns,
                                   std::size_t last) const;
};

/// Runs the records of one thread, on which `first` ran before. Tasks from `first_folded` on are jobs that are folded away. Marks
/// losses in `loaded`; `end_ns` is the session's end.
timeline build_timeline(const thread_stream& stream, std::span<const task_op> ops,
                        const first_run& first, std::uint32_t first_folded, std::int64_t end_ns,
                        trace& loaded);

}  // namespace coroscope::analysis::loading
