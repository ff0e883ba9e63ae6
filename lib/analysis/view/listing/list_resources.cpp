// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <coroscope/trace/resource_format.hpp>

#include "figure.hpp"
#include "place_cells.hpp"

namespace coroscope::analysis {
namespace {

/// Returns the capacity. A trace stores greater capacities as the limit.
listing_cell capacity_cell(std::uint32_t capacity) {
    if (capacity == 0) return optional_ns();
    if (capacity < coroscope::trace::resource_capacity_limit) return figure(capacity);
    return at_least{static_cast<std::int64_t>(capacity)};
}

}  // namespace

listing list_resources(const trace& loaded, const std::vector<resource_statistics>& statistics) {
    listing list;
    list.columns = {{"Resource", "name", cell_kind::text},
                    {"Kind", "kind", cell_kind::text},
                    {"Instances", "instances", cell_kind::count},
                    {"Capacity", "capacity", cell_kind::count},
                    {"Waits", "waits", cell_kind::count}};
    append_length_columns(list.columns);
    list.columns.insert(list.columns.end(),
                        {{"Gave up", "gave_up", cell_kind::count},
                         {"Holder", "holder", cell_kind::text},
                         {"Holder's scope", "holder_scope", cell_kind::text},
                         {"Waits for it", "holder_waits", cell_kind::count},
                         {"Holder unknown", "unknown_holders", cell_kind::count}});
    for (const resource_statistics& each : statistics) {
        std::vector<listing_cell> cells{each.name, each.kind, figure(each.instances)};
        cells.push_back(capacity_cell(each.capacity));
        cells.emplace_back(figure(each.waits));
        append_lengths(cells, each.total_ns, each.length);
        cells.emplace_back(figure(each.gave_up));
        const place_cells holder = cells_of_place(loaded, each.holder, each.holder.waits != 0);
        cells.push_back(holder.task);
        cells.push_back(holder.scope);
        cells.emplace_back(figure(each.holder.waits));
        cells.emplace_back(figure(each.unknown_holders));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
