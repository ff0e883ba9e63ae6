// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <fmt/format.h>

#include "figure.hpp"
#include "lock_text.hpp"
#include "place_cells.hpp"

namespace coroscope::analysis {

listing list_locks(const trace& loaded, const std::vector<lock_statistics>& statistics) {
    listing list;
    list.columns = {{"Lock", "lock", cell_kind::text}, {"Kind", "kind", cell_kind::text},
                    {"Seen", "seen", cell_kind::text}, {"Scope", "scope", cell_kind::text},
                    {"Task", "task", cell_kind::text}, {"Waits", "waits", cell_kind::count}};
    append_length_columns(list.columns);
    list.columns.insert(list.columns.end(),
                        {{"Gave up", "gave_up", cell_kind::count},
                         {"Holder's scope", "holder_scope", cell_kind::text},
                         {"Holder", "holder", cell_kind::text},
                         {"Waits for it", "holder_waits", cell_kind::count},
                         {"Holder unknown", "unknown_holders", cell_kind::count},
                         {"Worst wait", "worst", cell_kind::sentence}});
    for (const lock_statistics& each : statistics) {
        std::vector<listing_cell> cells{fmt::format("{:#x}", each.address),
                                        std::string(name_of_lock(each.kind)),
                                        std::string(each.samples ? "samples" : "each wait")};
        const place_cells waiter = cells_of_place(loaded, each.waiter, true);
        cells.push_back(waiter.scope);
        cells.push_back(waiter.task);
        cells.emplace_back(figure(each.length.count));
        append_lengths(cells, each.total_ns, each.length);
        cells.emplace_back(figure(each.gave_up));
        const place_cells holder = cells_of_place(loaded, each.holder, each.holder.waits != 0);
        cells.push_back(holder.scope);
        cells.push_back(holder.task);
        cells.emplace_back(figure(each.holder.waits));
        cells.emplace_back(figure(each.unknown_holders));
        cells.emplace_back(both_sides_text(loaded, each.worst));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
