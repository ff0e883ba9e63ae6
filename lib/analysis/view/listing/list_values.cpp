// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <cmath>

#include "../../words/places.hpp"
#include "figure.hpp"
#include "place_cells.hpp"

namespace coroscope::analysis {

namespace {

void append_figures(std::vector<listing_cell>& cells, const value_statistics& each) {
    cells.emplace_back(figure(each.count));
    for (const double number : {each.least, each.mean, each.p99, each.most}) {
        if (each.not_numbers == each.count || std::isnan(number))
            cells.emplace_back(not_applicable());
        else
            cells.emplace_back(number);
    }
    cells.emplace_back(figure(each.not_numbers));
}

}  // namespace

listing list_attributes(const std::vector<value_statistics>& statistics) {
    listing list;
    list.columns = {{"Attribute", "name", cell_kind::text},
                    {"Count", "count", cell_kind::count},
                    {"Min", "min", cell_kind::number},
                    {"Mean", "mean", cell_kind::number},
                    {"p99", "p99", cell_kind::number},
                    {"Max", "max", cell_kind::number},
                    {"Not a number", "not_numbers", cell_kind::count}};
    for (const value_statistics& each : statistics) {
        std::vector<listing_cell> cells{each.label};
        append_figures(cells, each);
        list.rows.push_back(std::move(cells));
    }
    return list;
}

listing list_values(const trace& loaded, const std::vector<value_statistics>& statistics) {
    listing list;
    list.columns = {
        {"Value", "name", cell_kind::text},   {"In scope", "scope", cell_kind::text},
        {"Count", "count", cell_kind::count}, {"Min", "min", cell_kind::number},
        {"Mean", "mean", cell_kind::number},  {"p99", "p99", cell_kind::number},
        {"Max", "max", cell_kind::number},    {"Not a number", "not_numbers", cell_kind::count},
        {"At", "place", cell_kind::source}};
    for (const value_statistics& each : statistics) {
        std::vector<listing_cell> cells{each.label, scope_cell(loaded, each.scope)};
        append_figures(cells, each);
        cells.emplace_back(site_place(loaded, each.site));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
