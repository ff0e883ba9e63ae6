// SPDX-License-Identifier: Apache-2.0
#pragma once

// events_of: a native trace in torch's words.
//
// Each scope and range becomes an event of the thread it began on. Those with a label from the source are
// operations, those with one from run time (record_function) annotations. torch's rule for what is asynchronous
// applies: a scope that was suspended, may have been, or ended on another thread has a total and no self time;
// how its time divides stands beside it (function_event::split). Threads have their logical numbers, from 1.
//
// What devices did becomes rows as in torch's own traces: calls on their threads, kernels, copies and sets on lanes
// of their streams, each with the external id of the scope that launched it. A correlation number that the trace
// used again is another one here. Total Allocated of a device's memory counts from the session's start.

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The trace's events with their tree. The list keeps nothing of `loaded`. Pure; throws std::bad_alloc.
[[nodiscard]] COROSCOPE_API event_list events_of(const trace& loaded);

}  // namespace coroscope::analysis
