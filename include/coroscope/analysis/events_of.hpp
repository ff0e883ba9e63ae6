// SPDX-License-Identifier: Apache-2.0
#pragma once

// events_of: converts a native trace into torch's events.
//
// Each scope and range becomes an event of the thread on which it began. Events with a label from
// the source are operations; those with a run-time label (record_function) are annotations. torch's
// rule for asynchronous events applies to scopes that were suspended, may have been suspended, or
// ended on another thread: such a scope has a total and no self time. The division of its time is
// in function_event::split. An event's thread is the logical number of the thread in the trace,
// from 1.
//
// Device activities become rows as in torch's own traces: calls on their threads; kernels, copies
// and sets on lanes of their streams, each with the external id of the scope that launched it. A
// correlation number that the trace reused gets a new value here. The total of a device's allocated
// memory counts from the session's start.

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Returns the trace's events with their tree. The list keeps no reference to `loaded`. Pure;
/// throws std::bad_alloc.
[[nodiscard]] COROSCOPE_API event_list events_of(const trace& loaded);

}  // namespace coroscope::analysis
