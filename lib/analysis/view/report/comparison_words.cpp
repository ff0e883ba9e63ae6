// SPDX-License-Identifier: Apache-2.0
#include "comparison_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../text/utf8.hpp"

namespace coroscope::analysis::inline reports {
namespace {

/// "none" or the number.
std::string amount(std::size_t rows) { return rows == 0 ? "none" : fmt::format("{}", rows); }

std::string_view is_or_are(std::size_t rows) { return rows > 1 ? "are" : "is"; }

}  // namespace

std::string change_text(const comparison_row& row) {
    return row.change ? fmt::format("{:+.1f} %", 100 * *row.change) : "-";
}

std::string interval_text(const comparison_row& row) {
    if (!row.low || !row.high) return "-";
    constexpr double largest = 9.99;  // a wider interval says nothing
    return fmt::format("{:+.0f} to {}{:+.0f} %", 100 * *row.low, *row.high > largest ? ">" : "",
                       100 * std::min(*row.high, largest));
}

std::string effect_text(const comparison_row& row) {
    const auto effect_ns = static_cast<std::int64_t>(std::llround(row.effect_ns));
    if (effect_ns == 0) return "0";
    return fmt::format("{}{}", effect_ns < 0 ? '-' : '+', format_span(std::abs(effect_ns)));
}

std::string place_text(const comparison_row& row) {
    if (row.file.empty()) return {};
    const std::string file = row.file.substr(row.file.find_last_of('/') + 1);
    return row.line == 0 ? printable(file) : fmt::format("{}:{}", printable(file), row.line);
}

std::string certainty_text(const comparison& of) {
    std::string text;
    if (of.before.size() == 1 && of.after.size() == 1) {
        text = "Certainty: weak, because there is one run a side. The intervals assume that two "
               "runs differ only as much as the parts and the fast calls of one run do.";
    } else {
        text =
            fmt::format("Certainty: {} before and {} after. The intervals follow from the "
                        "differences between the runs of a side.",
                        of.before.size() == 1 ? "1 run" : fmt::format("{} runs", of.before.size()),
                        of.after.size());
    }
    if (of.certain_rows != 0)
        text +=
            fmt::format(" Half of the rows are named only if they change by more than {:.0f} %.",
                        std::ceil(100 * of.typical_uncertainty));
    if (std::min(of.before.size(), of.after.size()) < 3)
        text += " Record at least three runs a side.";
    return text;
}

std::vector<std::string> call_notes(const comparison& of) {
    constexpr double least_ratio = 1.2;
    constexpr double least_calls = 0.01;
    std::vector<std::string> notes;
    if (!of.per_request) return notes;
    for (const comparison_row& each : of.rows) {
        if (each.kind != compared_kind::scope && each.kind != compared_kind::await) continue;
        const double least = std::min(each.calls_before, each.calls_after);
        const double most = std::max(each.calls_before, each.calls_after);
        if (least < least_calls || most < least * least_ratio) continue;
        notes.push_back(fmt::format("{} {} is called {:.3g} times per request, before {:.3g} times",
                                    name_of(each.kind), printable(each.name), each.calls_after,
                                    each.calls_before));
    }
    return notes;
}

shown_rows rows_to_show(const comparison& of, const comparison_options& options) {
    constexpr std::size_t most_unclear = 10;
    shown_rows shown;
    std::vector<const comparison_row*> unclear;
    for (const comparison_row& each : of.rows) {
        if (each.verdict == comparison_verdict::unclear)
            unclear.push_back(&each);
        else if (options.all || each.verdict != comparison_verdict::same)
            shown.rows.push_back(&each);
    }
    if (!options.all && unclear.size() > most_unclear) {
        shown.left_out = unclear.size() - most_unclear;
        unclear.resize(most_unclear);
    }
    shown.rows.insert(shown.rows.end(), unclear.begin(), unclear.end());
    if (options.row_limit >= 0 && static_cast<std::size_t>(options.row_limit) < shown.rows.size())
        shown.rows.resize(static_cast<std::size_t>(options.row_limit));
    return shown;
}

}  // namespace coroscope::analysis::inline reports

namespace coroscope::analysis {

std::string comparison_sentence(const comparison& of) {
    const std::size_t slower = of.count(comparison_verdict::slower);
    const std::size_t faster = of.count(comparison_verdict::faster);
    return fmt::format(
        "{} {} slower, {} {} faster; {} the same, {} unclear, {} new, {} gone", amount(slower),
        is_or_are(slower), amount(faster), is_or_are(faster),
        amount(of.count(comparison_verdict::same)), amount(of.count(comparison_verdict::unclear)),
        amount(of.count(comparison_verdict::appeared)), amount(of.count(comparison_verdict::gone)));
}

}  // namespace coroscope::analysis
