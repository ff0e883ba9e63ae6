// SPDX-License-Identifier: Apache-2.0
#pragma once

// The shortest and the longest whole call of a row. A call that began before the session, or did
// not end in it, lasted longer than the trace shows.

#include <algorithm>
#include <cstdint>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

inline bool is_whole(const event& call) { return (call.flags & (event_clipped | event_open)) == 0; }

/// Row: function_event_avg or another sum with these members.
template <class Row>
bool has_whole_calls(const Row& row) {
    return row.count > row.partial_count;
}

/// Takes the shortest and the longest of whole calls. Must be called before they are counted.
template <class Row>
void take_lengths(Row& row, std::int64_t shortest_ns, std::int64_t longest_ns) {
    const bool first = !has_whole_calls(row);
    row.min_wall_ns = first ? shortest_ns : std::min(row.min_wall_ns, shortest_ns);
    row.max_wall_ns = first ? longest_ns : std::max(row.max_wall_ns, longest_ns);
}

}  // namespace coroscope::analysis::inline answers
