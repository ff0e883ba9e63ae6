// SPDX-License-Identifier: Apache-2.0
#pragma once

// accumulate: the events of several recordings as one list (torch: profile(acc_events=True), which
// keeps the events of a schedule's earlier cycles).
//
//     analysis::event_list all;
//     for (const analysis::trace& cycle : cycles)
//         analysis::accumulate(all, analysis::events_of(cycle));

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Appends `more` to `all`. The new times count from the base of `all`; an empty list takes over
/// the base of `more`. Lanes with the same ids become one. build_tree must have run on both, and
/// the tree stays valid. Warnings and losses add up. Not thread-safe on one list. Throws
/// std::bad_alloc and std::length_error.
COROSCOPE_API void accumulate(event_list& all, const event_list& more);

}  // namespace coroscope::analysis
