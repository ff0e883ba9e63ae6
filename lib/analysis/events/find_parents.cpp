// SPDX-License-Identifier: Apache-2.0
#include "find_parents.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../answer/selection.hpp"

namespace coroscope::analysis::inline events {
namespace {

using open_events = std::vector<std::uint32_t>;

/// Returns whether the event may have a parent and be one. `every`: every CPU event may.
bool takes_part(const event_row& row, bool every) noexcept {
    return (row.flags & (row_async | row_hidden)) == 0 && is_cpu_row(row, every);
}

/// Keeps the rows on the stack that enclose the event. Rows that only overlap it are removed.
void close_others(open_events& open, const std::vector<event_row>& rows, const event_row& row) {
    while (!open.empty()) {
        const event_row& top = rows[open.back()];
        if (row.start_ns < top.end_ns && row.end_ns <= top.end_ns) return;
        open.pop_back();
    }
}

}  // namespace

void find_parents(event_list& list) {
    std::vector<open_events> open_of(list.threads.size() + 1);  // the last: events without a thread
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

}  // namespace coroscope::analysis::inline events
