// SPDX-License-Identifier: Apache-2.0
#pragma once

// add_process: merges the traces of several processes of one run into one trace, for tables and
// summaries.

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Appends the threads, tasks, slices, awaits, scopes, attributes, executors, objects, requests,
/// values, blocking calls and waits for resources and locks of `more` to those of `all`. An empty
/// `all` becomes a copy of `more`. Equal sites and texts are merged, so tables have one row for
/// them. Times count from the start of `all`, by the wall clock. Losses add up.
///
/// `finished` is true if both are finished. `being_recorded` is true if one is being recorded and
/// the other one is being recorded or finished. The ids of tasks and of requests, and the numbers
/// of executors and of objects, are those of the processes, so two tasks may have the same id.
/// Devices, memory, streams, notes, modules and the states of threads of `more` are left out.
///
/// Not thread-safe on one trace. Throws std::bad_alloc and std::length_error.
COROSCOPE_API void add_process(trace& all, const trace& more);

}  // namespace coroscope::analysis
