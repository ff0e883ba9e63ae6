// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <cmath>

#include <fmt/format.h>

#include "../../words/path_words.hpp"
#include "../../words/places.hpp"
#include "figure.hpp"

namespace coroscope::analysis {
namespace {

constexpr double least_listed_share = 0.01;

// Returns the cause with its share of the longer time.
std::string cause_text(const trace& loaded, const request_difference& of) {
    if (!of.cause) return std::string(own_cause(of.kind));
    const std::string title = cause_title(loaded, of);
    const std::string share = cause_share(of);
    return title.empty() || share.empty() ? title : fmt::format("{} ({})", title, share);
}

}  // namespace

listing list_differences(const trace& loaded, const slow_requests& of, bool all) {
    listing list;
    list.columns = {
        {"Longer by", "more_ns", cell_kind::time}, {"Share %", "share_percent", cell_kind::number},
        {"Kind", "kind", cell_kind::text},         {"In", "label", cell_kind::text},
        {"Scope", "scope", cell_kind::text},       {"Slow", "slow_ns", cell_kind::time},
        {"Median", "median_ns", cell_kind::time},  {"Because of", "cause", cell_kind::sentence},
        {"Place", "place", cell_kind::source}};
    if (!of.differ()) return list;
    for (const request_difference& each : of.differences) {
        if (!all && std::abs(each.share) < least_listed_share) continue;
        list.rows.push_back({optional_ns(each.more_ns()), percent(each.share),
                             std::string(name_of(each.kind)), each.label, text_cell(each.scope),
                             optional_ns(each.slow_ns), optional_ns(each.median_ns),
                             text_cell(cause_text(loaded, each)),
                             text_cell(site_place(loaded, each.site))});
    }
    return list;
}

}  // namespace coroscope::analysis
