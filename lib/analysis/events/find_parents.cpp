// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "tree_steps.hpp"

namespace coroscope::analysis::events {
namespace {

using open_events = std::vector<std::uint32_t>;

/// Leaves on the stack what encloses the event. What only overlaps it is gone for good.
void close_others(open_events& open, const std::vector<event_row>& rows, const event_row& row) {
    while (!open.empty()) {
        const event_row& top = rows[open.back()];
        if (row.start_ns < top.end_ns && row.end_ns <= top.end_ns) return;
        open.pop_back();
    }
}

}  // namespace

void find_parents(event_list& list) {
    std::vector<open_events> open_of(list.threads.size() + 1);  // the last: of no thread
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        event_row& row = list.rows[at];
        row.parent = none;
        if (!takes_part(row, list.every_event_nests)) continue;
        open_events& open = open_of[std::min<std::size_t>(row.thread, list.threads.size())];
        close_others(open, list.rows, row);
        if (!open.empty()) row.parent = open.back();
        open.push_back(at);
    }
}

}  // namespace coroscope::analysis::events
