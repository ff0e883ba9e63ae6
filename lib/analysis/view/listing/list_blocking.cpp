// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include "../../words/places.hpp"
#include "figure.hpp"

namespace coroscope::analysis {
listing list_blocking_calls(const trace& loaded,
                            const std::vector<blocking_statistics>& statistics) {
    listing list;
    list.columns = {{"Call", "call", cell_kind::text},
                    {"Descriptor", "descriptor", cell_kind::text},
                    {"Scope", "scope", cell_kind::text},
                    {"Task", "task", cell_kind::text},
                    {"Calls", "count", cell_kind::count}};
    append_length_columns(list.columns);
    for (const blocking_statistics& each : statistics) {
        std::vector<listing_cell> cells{std::string(name_of_function(each.function))};
        cells.push_back(text_cell(std::string(name_of_descriptor(each.descriptor))));
        cells.push_back(text_cell(each.scope < loaded.strings.size() ? loaded.strings[each.scope]
                                                                     : std::string()));
        cells.push_back(text_cell(each.spawn_site == none ? std::string()
                                                          : site_name(loaded, each.spawn_site)));
        cells.emplace_back(figure(each.length.count));
        append_lengths(cells, each.total_ns, each.length);
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
