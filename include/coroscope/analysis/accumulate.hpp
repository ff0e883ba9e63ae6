// SPDX-License-Identifier: Apache-2.0
#pragma once

// accumulate: the events of several recordings as one list (torch: profile(acc_events=True), which keeps the
// events of a schedule's earlier cycles).
//
//     analysis::event_list all;
//     for (const analysis::trace& cycle : cycles) analysis::accumulate(all, analysis::events_of(cycle));

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Adds `more` behind what `all` holds. Its times count from the base of `all` from then on, an empty list takes
/// over that of `more`; lanes with the same ids are one. The tree of both must have been built, and stays.
/// Warnings and losses add up. Not thread-safe on one list. Throws std::bad_alloc and std::length_error.
COROSCOPE_API void accumulate(event_list& all, const event_list& more);

}  // namespace coroscope::analysis
