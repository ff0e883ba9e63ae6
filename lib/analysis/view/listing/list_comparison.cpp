// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <string>

#include <coroscope/analysis/comparison_views.hpp>

#include "figure.hpp"

namespace coroscope::analysis {
namespace {

listing_cell number_cell(const std::optional<double>& number) {
    return number ? listing_cell(*number) : listing_cell(optional_ns());
}

/// Three decimals are more than any row is certain of.
double rounded(double number) { return std::round(number * 1000) / 1000; }

listing_cell share_cell(const std::optional<double>& share) {
    return share ? number_cell(rounded(*share)) : number_cell(share);
}

listing_cell time_cell(const std::optional<double>& time_ns) {
    return time_ns ? optional_ns(std::llround(*time_ns)) : optional_ns();
}

listing_cell line_cell(std::uint32_t line) {
    if (line == 0) return not_applicable();
    return optional_ns(line);
}

}  // namespace

listing list_comparison(const comparison& of) {
    listing list;
    list.columns = {{"Kind", "kind", cell_kind::text},
                    {"Name", "name", cell_kind::text},
                    {"File", "file", cell_kind::source},
                    {"Line", "line", cell_kind::count},
                    {"Verdict", "verdict", cell_kind::text},
                    {"Change", "change", cell_kind::number},
                    {"Low", "low", cell_kind::number},
                    {"High", "high", cell_kind::number},
                    {"Time", "measured", cell_kind::text},
                    {"Before", "before_ns", cell_kind::time},
                    {"After", "after_ns", cell_kind::time},
                    {"Calls before", "calls_before", cell_kind::number},
                    {"Calls after", "calls_after", cell_kind::number},
                    {"Effect", "effect_ns", cell_kind::time},
                    {"Note", "note", cell_kind::sentence}};
    for (const comparison_row& each : of.rows) {
        list.rows.push_back(
            {std::string(name_of(each.kind)), each.name, text_cell(each.file), line_cell(each.line),
             std::string(name_of(each.verdict)), share_cell(each.change), share_cell(each.low),
             share_cell(each.high), std::string(name_of(each.measured)), time_cell(each.before_ns),
             time_cell(each.after_ns), rounded(each.calls_before), rounded(each.calls_after),
             optional_ns(std::llround(each.effect_ns)), text_cell(each.note)});
    }
    return list;
}

}  // namespace coroscope::analysis
