// SPDX-License-Identifier: Apache-2.0
#include "fit_columns.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "utf8.hpp"

namespace coroscope::analysis::inline text {
namespace {

// The keys of columns, the most important first. The first column of a table is always shown.
constexpr std::string_view by_importance[] = {"name",
                                              "percentile",
                                              "request",
                                              "id",
                                              "label",
                                              "p99_wall_ns",
                                              "p50_wall_ns",
                                              "p90_wall_ns",
                                              "max_whole_ns",
                                              "wall_ns",
                                              "total_ns",
                                              "more_ns",
                                              "duration_ns",
                                              "ns",
                                              "share_percent",
                                              "count",
                                              "task",
                                              "waits",
                                              "kind",
                                              "threads",
                                              "busy_ns",
                                              "p99_ns",
                                              "self_ns",
                                              "self_on_cpu_ns",
                                              "suspended_ns",
                                              "queued_ns",
                                              "waiting_ns",
                                              "saturated",
                                              "self_blocked_ns",
                                              "blocked_ns",
                                              "holder_scope",
                                              "cause",
                                              "max_ns",
                                              "place",
                                              "start_ns",
                                              "spawned_at",
                                              "occupant_scope",
                                              "p50_ns",
                                              "running_ns",
                                              "on_cpu_ns",
                                              "scope",
                                              "preempted_ns",
                                              "end",
                                              "thread",
                                              "os_id"};

// The widths of a column in characters.
struct fitting_column {
    std::size_t importance;  // 0: never left out; a larger number: matters less
    std::size_t width;       // with all cells in full
    std::size_t least;       // with cells cut as far as they may be
};

std::size_t used_width(const std::vector<std::size_t>& widths) {
    std::size_t used = 0;
    for (const std::size_t width : widths)
        if (width != 0) used += width + column_gap;
    return used < column_gap ? 0 : used - column_gap;
}

/// Makes narrow columns wider by one character each in turn, until none is cut or the line is full.
void widen(std::vector<std::size_t>& widths, const std::vector<fitting_column>& columns,
           std::size_t line) {
    std::size_t used = used_width(widths);
    bool widened = true;
    while (widened && used < line) {
        widened = false;
        for (std::size_t at = 0; at < columns.size() && used < line; ++at) {
            if (widths[at] == 0 || widths[at] >= columns[at].width) continue;
            ++widths[at];
            ++used;
            widened = true;
        }
    }
}

// Returns the width of each column; 0: the column is left out.
std::vector<std::size_t> fit_columns(const std::vector<fitting_column>& columns, std::size_t line) {
    std::vector<std::size_t> order(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {},
                             [&columns](std::size_t at) { return columns[at].importance; });
    std::vector<std::size_t> widths(columns.size(), 0);
    for (const std::size_t at : order) {
        widths[at] = columns[at].least;
        if (columns[at].importance != 0 && used_width(widths) > line) widths[at] = 0;
    }
    widen(widths, columns, line);
    return widths;
}

// `at` is the column's position: of keys without an importance of their own, the first ones matter
// more.
std::size_t column_importance(std::string_view key, std::size_t at) {
    if (at == 0) return 0;
    const auto* const found = std::ranges::find(by_importance, key);
    const auto rank = static_cast<std::size_t>(found - std::begin(by_importance));
    return found == std::end(by_importance) ? rank + at : rank + 1;
}

// Returns whether a cell is empty, unknown, zero, or not applicable.
bool says_nothing(std::string_view cell) {
    if (cell == "unknown" || cell == "no" || cell == "NaN") return true;
    const std::string_view unit = cell.substr(std::min(cell.find_first_not_of("0.-"), cell.size()));
    constexpr std::string_view units[] = {"", "ns", "us", "ms", "s", "%", " B"};
    return std::ranges::find(units, unit) != std::end(units);
}

fitting_column widths_of(const laid_column& of, std::size_t at) {
    constexpr std::size_t least_name = 20;
    constexpr std::size_t least_first_name = 28;  // the rows are found by it
    constexpr std::size_t least_place = 16;
    const std::size_t width =
        column_width(of.cells, of.column.heading, 0, std::numeric_limits<std::size_t>::max());
    const std::size_t heading = count_characters(of.column.heading);
    const std::size_t name = at == 0 ? least_first_name : least_name;
    const std::size_t text = of.how == shortening::source ? least_place : name;
    const std::size_t least =
        of.how == shortening::none ? width : std::min(width, std::max(heading, text));
    return {column_importance(of.key, at), width, least};
}

void drop_silent_columns(std::vector<laid_column>& columns, std::vector<std::string>& left_out) {
    for (std::size_t at = columns.size(); at-- > 1;) {
        if (columns[at].cells.empty() || !std::ranges::all_of(columns[at].cells, says_nothing))
            continue;
        left_out.insert(left_out.begin(), columns[at].column.heading);
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

// Names that were cut to the same text are told apart, if the width allows it.
void shorten_cells(laid_column& of, std::size_t width) {
    std::vector<std::string> cut;
    cut.reserve(of.cells.size());
    for (const std::string& cell : of.cells)
        cut.push_back(of.how == shortening::source ? cut_source(cell, width)
                                                   : cut_middle(cell, width));
    if (of.how == shortening::middle) tell_apart(cut, of.cells, width);
    for (std::string& cell : cut) cell = cut_middle(cell, width);
    of.cells = std::move(cut);
}

}  // namespace

std::vector<std::string> fit_table(std::vector<laid_column>& columns, std::size_t line) {
    std::vector<std::string> left_out;
    drop_silent_columns(columns, left_out);
    std::vector<fitting_column> fitting;
    for (std::size_t at = 0; at < columns.size(); ++at)
        fitting.push_back(widths_of(columns[at], at));
    const std::vector<std::size_t> widths = fit_columns(fitting, line);
    std::vector<laid_column> shown;
    for (std::size_t at = 0; at < columns.size(); ++at) {
        if (widths[at] == 0) {
            left_out.push_back(columns[at].column.heading);
            continue;
        }
        if (columns[at].how != shortening::none) shorten_cells(columns[at], widths[at]);
        columns[at].column.width = widths[at];
        shown.push_back(std::move(columns[at]));
    }
    columns = std::move(shown);
    return left_out;
}

std::string cut_middle(std::string_view text, std::size_t limit) {
    constexpr std::string_view dots = "...";
    constexpr std::size_t least = 8;
    if (count_characters(text) <= limit) return std::string(text);
    if (limit < least) return std::string(first_characters(text, limit));
    const std::size_t kept = limit - dots.size();
    const std::size_t head = kept - kept / 2;
    return std::string(first_characters(text, head))
        .append(dots)
        .append(last_characters(text, kept - head));
}

std::string left_out_line(const std::vector<std::string>& headings) {
    if (headings.empty()) return {};
    std::string text;
    for (const std::string& heading : headings)
        text.append(text.empty() ? "Not shown: " : ", ").append(heading);
    return text.append("; --wide shows all columns\n");
}

}  // namespace coroscope::analysis::inline text
