// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tasks that run on one thread, from its task records.
//
// A thread has a stack of frames. The lowest is the thread itself; the others are slices of tasks.
// A nested slice (an eager child, a generator, a task that is resumed in place) is above the slice
// that it interrupts. The interrupted task is suspended in the meantime: this is a *hand-over*. A
// *context* frame attributes scopes to a task, but is not a slice of the task. A *job* frame is an
// executor's job that only resumes other tasks. Contexts and jobs leave their time to the slice
// below.
//
// At each moment exactly one frame of a thread owns the time, so own times never add up to more
// than the thread's wall time.
//
// Records may be missing. Each record names the task that it found or left. If that task is not on
// top of the stack, the frames above it end at the last known time; guessed frames are dropped. If
// the task has no frame, it gets a guessed one. The tasks concerned are marked as having losses,
// except a guessed task of a trace that lost no records: it may have been in its await_suspend, and
// then did not run. Only the record of its suspension or end proves that a guessed task ran.
//
// A session that records some threads or tasks does not see every task come: a task of another
// session runs in between. If such a task is named, it gets a context frame, and lost nothing.

#include <cstddef>

#include "../records/task_records.hpp"
#include "first_runs.hpp"
#include "timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

/// Replays the records of one thread, the stream of that number. `first`: the stacks of all
/// threads. Marks losses in `records` and sets the causes of the stream's ops.
timeline build_timeline(task_records& records, std::size_t stream, const first_runs& first,
                        const trace& loaded);

}  // namespace coroscope::analysis::inline tasks
