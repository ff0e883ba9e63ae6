// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges the scopes of all streams into the model's events and gives each its parent.
//
// Parents follow torch's rule, once per task (over all threads) and once per thread outside tasks: an
// event's parent is the last one before it, in the model's order, that encloses it; one that ended
// before it, or that it overlaps, will never be a parent again.

#include <vector>

#include "clock_map.hpp"
#include "deadline.hpp"
#include "scope_records.hpp"
#include "scope_texts.hpp"
#include "symbols.hpp"
#include "task_records.hpp"
#include "thread_timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// What the passes over the records have left, by stream. The scopes are put into order.
struct gathered_scopes {
    std::vector<thread_stream>& streams;
    const std::vector<timeline>& timelines;
    std::vector<stream_scopes>& scopes;
    const scope_texts& texts;
    const scope_notes& notes;
};

/// Fills loaded.events and the scopes of loaded.awaits.
/// Stops between events when the deadline has passed: then those that began last are missing.
void build_events(const gathered_scopes& gathered, symbols& names, const clock_map& clock,
                  deadline& until, trace& loaded);

}  // namespace coroscope::analysis::loading
