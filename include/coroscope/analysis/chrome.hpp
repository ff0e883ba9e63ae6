// SPDX-License-Identifier: Apache-2.0
#pragma once

// Export to Chrome's JSON trace format, which Perfetto, DevTools, speedscope and others open.
//
// The file has two processes. The first has the threads: on-stack scopes and the slices of tasks.
// The second has the tasks, each on a lane of its spawn site from its first wake to its end. Inside
// a task are its in-frame scopes and, innermost, its awaits and its queued times. Later tasks reuse
// lanes. Arrows lead from a spawn and from a wake to the next slice.
//
// After these two, each device is a process with a lane per stream. Arrows lead from a call to its
// requested work, and from the last activity that a task waited for to the slice in which the task
// went on.
//
// If the trace knows the states of threads, the innermost bars of a thread and of the task that ran
// are its blocked and preempted stretches of 10 microseconds or more.
//
// An event that does not nest in its lane goes to a lane beside it: two complete events never
// overlap in one lane.
//
// The writer streams: it holds a buffer of 1 MiB and, beside the loaded trace, a few dozen bytes
// per task, slice and device activity.

#include <cstdint>
#include <functional>
#include <string_view>

#include <coroscope/analysis/chrome_totals.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Takes the next bytes of an export. Returns false if they could not be written, which ends the
/// export.
using byte_sink = std::function<bool(std::string_view)>;

/// Writes the whole trace. Fails if the sink fails.
[[nodiscard]] COROSCOPE_API result<chrome_totals> export_chrome(const trace& from,
                                                                const byte_sink& sink);

}  // namespace coroscope::analysis
