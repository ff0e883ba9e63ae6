// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/build_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../answer/selection.hpp"
#include "../model/bounded.hpp"
#include "../text/warnings.hpp"
#include "backward_stacks.hpp"
#include "find_parents.hpp"
#include "fold_duplicates.hpp"
#include "link_devices.hpp"
#include "link_memory.hpp"
#include "order_rows.hpp"

namespace coroscope::analysis {
namespace {

/// Bounds times, and marks rows as asynchronous that ended on another thread than they began on.
void prepare_rows(event_list& list) {
    std::size_t cut = 0;
    for (event_row& row : list.rows) {
        const std::int64_t start_ns = bounded(row.start_ns), end_ns = bounded(row.end_ns);
        cut += start_ns != row.start_ns || end_ns != row.end_ns ? 1 : 0;
        row.start_ns = start_ns;
        row.end_ns = end_ns;
        if (row.extra == none) continue;
        const std::uint32_t end_thread = list.extras[row.extra].end_thread;
        if (end_thread != none && end_thread != row.thread) row.flags |= row_async;
    }
    warn(list.health.warnings,
         "events that reach further than 146 years from the zero of their clock, cut there", cut);
}

// Children may overlap each other, and time that two of them cover counts once. Rows are sorted by
// start, so each child adds only its time after the end of all children before it.
void sum_children_times(event_list& list) {
    std::vector<std::int64_t> covered_to(list.rows.size(), INT64_MIN);
    for (const event_row& row : list.rows) {
        if (row.parent == none || row.device != device_kind::cpu) continue;
        std::int64_t& covered = covered_to[row.parent];
        const std::int64_t from = std::max(row.start_ns, covered);
        if (row.end_ns > from) add_to(list.rows[row.parent].children_ns, row.end_ns - from);
        covered = std::max(covered, row.end_ns);
    }
}

/// Adds children's times, device times and memory to their parents'.
void sum_children(event_list& list) {
    sum_children_times(list);
    for (const std::uint32_t at : list.launched) {
        const event_row& row = list.rows[at];
        add_to(list.sums_of(list.rows[row.parent]).kernels_ns, row.end_ns - row.start_ns);
    }
    for (std::size_t at = list.rows.size(); at-- > 0;) {
        const event_row& row = list.rows[at];
        if (row.parent == none || row.device != device_kind::cpu) continue;
        event_row& parent = list.rows[row.parent];
        if (row.sums == none) continue;
        const event_sums mine = list.sums[row.sums];
        event_sums& theirs = list.sums_of(parent);
        add_to(theirs.children_device_ns, saturated_sum(mine.kernels_ns, mine.children_device_ns));
        add_to(theirs.children_cpu_memory, mine.cpu_memory);
        add_to(theirs.children_device_memory, mine.device_memory);
    }
}

/// Lists device events at the row that launched them.
void order_launched(event_list& list) {
    list.launched.clear();
    for (std::uint32_t at = 0; at < list.rows.size(); ++at)
        if (list.rows[at].device != device_kind::cpu && list.rows[at].parent != none)
            list.launched.push_back(at);
    std::sort(list.launched.begin(), list.launched.end(),
              [&](std::uint32_t one, std::uint32_t other) {
                  const std::uint32_t left = list.rows[one].parent;
                  const std::uint32_t right = list.rows[other].parent;
                  return left != right ? left < right : one < other;
              });
}

}  // namespace

// Each step sees the results of the steps before it.
void build_tree(event_list& list) {
    if (list.is_built) return;
    list.every_event_nests = std::none_of(list.rows.begin(), list.rows.end(), is_torch_activity);
    prepare_rows(list);
    order_rows(list);
    link_memory(list);
    find_parents(list);
    const std::vector<std::uint32_t> kept_as = fold_duplicates(list);
    list.folded_events = count_folded(kept_as);
    link_devices(list, kept_as);
    drop_folded(list, kept_as);
    order_launched(list);
    sum_children(list);
    set_backward_stacks(list);
    list.is_built = true;
}

}  // namespace coroscope::analysis
