// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include "figure.hpp"

namespace coroscope::analysis {
namespace {

/// Appends the percentiles of one kind of delay. They are unknown if there was no such delay.
void append_delays(std::vector<listing_cell>& cells, const percentiles& delays) {
    for (const std::int64_t length : {delays.p50_ns, delays.p95_ns, delays.max_ns})
        cells.emplace_back(delays.count != 0 ? optional_ns(length) : std::nullopt);
}

}  // namespace

listing list_streams(const std::vector<stream_statistics>& statistics) {
    listing list;
    list.columns = {{"Stream", "name", cell_kind::text},
                    {"Streams", "count", cell_kind::count},
                    {"Items", "items", cell_kind::count},
                    {"First p50", "first_item_p50_ns", cell_kind::time},
                    {"First p95", "first_item_p95_ns", cell_kind::time},
                    {"First max", "first_item_max_ns", cell_kind::time},
                    {"Gap p50", "gap_p50_ns", cell_kind::time},
                    {"Gap p95", "gap_p95_ns", cell_kind::time},
                    {"Gap max", "gap_max_ns", cell_kind::time},
                    {"Lost items", "lost_items", cell_kind::count},
                    {"Not ended", "unfinished", cell_kind::count}};
    for (const stream_statistics& each : statistics) {
        std::vector<listing_cell> cells{each.name, figure(each.count), figure(each.items)};
        append_delays(cells, each.first_item);
        append_delays(cells, each.gap);
        cells.emplace_back(figure(each.lost_items));
        cells.emplace_back(figure(each.unfinished));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
