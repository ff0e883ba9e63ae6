// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <cstddef>

#include <fmt/format.h>

#include "../../words/places.hpp"
#include "figure.hpp"

namespace coroscope::analysis {
namespace {

constexpr double least_part = 0.01;

double part_of(std::int64_t time_ns, std::int64_t whole_ns) {
    return whole_ns <= 0 ? 0 : static_cast<double>(time_ns) / static_cast<double>(whole_ns);
}

optional_ns mean_ns(std::int64_t sum_ns, std::size_t count) {
    return count == 0 ? optional_ns() : sum_ns / static_cast<std::int64_t>(count);
}

bool matters(const request_paths& of, const request_path_node& node) {
    if (part_of(node.total_ns, of.wall_ns) >= least_part) return true;
    for (std::size_t group = 0; group < of.groups.size(); ++group)
        if (part_of(node.group_ns[group], of.groups[group].wall_ns) >= least_part) return true;
    return false;
}

}  // namespace

listing list_request_paths(const trace& loaded, const request_paths& of, bool all) {
    listing list;
    list.columns = {{"Mean", "mean_ns", cell_kind::time},
                    {"Share %", "share_percent", cell_kind::number},
                    {"Own", "own_ns", cell_kind::time}};
    for (const percentile_group& group : of.groups) {
        const std::string name = fmt::format("p{}", group.percentile);
        list.columns.push_back({name, name + "_ns", cell_kind::time});
    }
    list.columns.insert(list.columns.end(), {{"Requests", "requests", cell_kind::count},
                                             {"Depth", "depth", cell_kind::count},
                                             {"Kind", "kind", cell_kind::text},
                                             {"In", "label", cell_kind::outline},
                                             {"Place", "place", cell_kind::source}});
    for (const request_path_node& node : of.nodes) {
        if (!all && !matters(of, node)) continue;
        std::vector<listing_cell> cells{mean_ns(node.total_ns, of.requests),
                                        percent(part_of(node.total_ns, of.wall_ns)),
                                        mean_ns(node.own_ns, of.requests)};
        for (std::size_t group = 0; group < of.groups.size(); ++group)
            cells.emplace_back(mean_ns(node.group_ns[group], of.groups[group].requests.size()));
        cells.insert(cells.end(), {figure(node.requests), optional_ns(node.depth),
                                   std::string(name_of(node.kind)), node.label,
                                   text_cell(site_place(loaded, node.site))});
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
