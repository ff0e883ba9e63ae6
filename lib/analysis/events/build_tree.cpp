// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/build_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

#include "../warnings.hpp"
#include "saturated.hpp"
#include "selection.hpp"
#include "tree_steps.hpp"

namespace coroscope::analysis {
namespace events {

bool takes_part(const event_row& row, bool every) noexcept {
    return (row.flags & (row_async | row_hidden)) == 0 && is_cpu_row(row, every);
}

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

void sum_children(event_list& list) {
    for (const std::uint32_t at : list.launched) {
        const event_row& row = list.rows[at];
        add_to(list.sums_of(list.rows[row.parent]).kernels_ns, row.end_ns - row.start_ns);
    }
    for (std::size_t at = list.rows.size(); at-- > 0;) {
        const event_row& row = list.rows[at];
        if (row.parent == none || row.device != device_kind::cpu) continue;
        event_row& parent = list.rows[row.parent];
        add_to(parent.children_ns, row.end_ns - row.start_ns);
        if (row.sums == none) continue;
        const event_sums mine = list.sums[row.sums];
        event_sums& theirs = list.sums_of(parent);
        add_to(theirs.children_device_ns, saturated_sum(mine.kernels_ns, mine.children_device_ns));
        add_to(theirs.children_cpu_memory, mine.cpu_memory);
        add_to(theirs.children_device_memory, mine.device_memory);
    }
}

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

}  // namespace events

void build_tree(event_list& list) {
    if (list.is_built) return;
    list.every_event_nests =
        std::none_of(list.rows.begin(), list.rows.end(), events::is_torch_activity);
    events::prepare_rows(list);
    events::order_rows(list);
    events::link_memory(list);
    events::find_parents(list);
    const std::vector<std::uint32_t> kept_as = events::fold_duplicates(list);
    events::link_devices(list, kept_as);
    events::drop_folded(list, kept_as);
    events::order_launched(list);
    events::sum_children(list);
    events::set_backward_stacks(list);
    list.is_built = true;
}

}  // namespace coroscope::analysis
