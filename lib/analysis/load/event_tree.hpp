// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges the scopes of all streams into the model's events and gives each its parent.
//
// Parents follow torch's rule, once per task (over all threads) and once per thread outside tasks: an
// event's parent is the last one before it, in the model's order, that encloses it; one that ended
// before it, or that it overlaps, will never be a parent again.

#include <span>
#include <vector>

#include "scope_records.hpp"
#include "symbols.hpp"
#include "task_records.hpp"
#include "thread_timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// Fills loaded.events. The three spans are by stream.
void build_events(std::span<const thread_stream> streams, std::span<const timeline> timelines,
                  std::span<const stream_scopes> scopes, const symbols& names, trace& loaded);

}  // namespace coroscope::analysis::loading
