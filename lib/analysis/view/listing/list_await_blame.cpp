// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include "../../words/places.hpp"
#include "figure.hpp"

namespace coroscope::analysis {

listing list_await_blame(const trace& loaded, const std::vector<await_blame>& blame) {
    listing list;
    list.columns = {
        {"Total", "total_ns", cell_kind::time},  {"Count", "count", cell_kind::count},
        {"Waiting", "waiting", cell_kind::text}, {"Waiting at", "waiting_place", cell_kind::source},
        {"Because", "because", cell_kind::text}, {"In", "label", cell_kind::text},
        {"Place", "place", cell_kind::source},
    };
    for (const await_blame& each : blame)
        list.rows.push_back({optional_ns(each.time_ns), figure(each.count), each.waiting,
                             text_cell(site_place(loaded, each.waiting_site)),
                             std::string(name_of(each.kind)), text_cell(each.label),
                             text_cell(site_place(loaded, each.site))});
    return list;
}

}  // namespace coroscope::analysis
