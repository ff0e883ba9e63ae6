// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges the scopes of all streams into the model's events and gives each its parent.
//
// Parents follow torch's rule: in the model's order, an event's parent is the last event before it
// that encloses it. An event that ends before the next one, or overlaps it only in part, gets no
// more children. The rule applies to the events of each task (over all threads), and to the events
// of each thread outside tasks.

#include <vector>

#include "../records/clock_map.hpp"
#include "../records/deadline.hpp"
#include "../records/metadata.hpp"
#include "../records/task_records.hpp"
#include "../tasks/task_history.hpp"
#include "../tasks/thread_timeline.hpp"
#include "scope_records.hpp"
#include "scope_texts.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline scopes {

/// The results of the passes over the records, by stream. build_events() sorts the scopes in place.
struct gathered_scopes {
    std::vector<thread_stream>& streams;
    const std::vector<timeline>& timelines;
    std::vector<stream_scopes>& scopes;
    const scope_texts& texts;
    const scope_notes& notes;
    const task_histories& histories;
};

/// Fills loaded.events and the scopes of loaded.awaits. Sorts on up to `jobs` threads. Stops
/// between events when the deadline has passed; the events that began last are then missing.
void build_events(const gathered_scopes& gathered, metadata& names, const clock_map& clock,
                  unsigned jobs, deadline& until, trace& loaded);

}  // namespace coroscope::analysis::inline scopes
