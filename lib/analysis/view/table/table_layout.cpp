// SPDX-License-Identifier: Apache-2.0
#include "table_layout.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "../../text/utf8.hpp"
#include "table_columns.hpp"

namespace coroscope::analysis::inline tables {
namespace {

constexpr std::size_t name_padding = 4;

std::string heading_of(const text_form& which, const table_input& input) {
    if (which.heading_of != nullptr) return which.heading_of(input);
    if (input.is_running_time && !which.of_running_time.empty())
        return std::string(which.of_running_time);
    std::string heading(which.heading);
    if (const std::size_t at = heading.find("DEV"); at != std::string::npos)
        heading.replace(at, 3, device_title(input));
    return heading;
}

std::vector<std::string> lines_of(const std::vector<std::string>& cells) {
    std::vector<std::string> lines;
    for (const std::string& cell : cells) {
        std::string_view rest = cell;
        while (!rest.empty()) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            lines.emplace_back(line);
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        }
    }
    return lines;
}

/// Returns the names of all rows: torch computes the width from all of them, even those beyond the
/// row limit.
std::vector<std::string> every_name(const table_input& input) {
    std::vector<std::string> names;
    names.reserve(input.rows.size());
    for (const function_event_avg& row : input.rows) names.push_back(printable(row.name));
    return names;
}

std::vector<std::string> names_of(const table_input& input, const std::vector<std::size_t>& rows) {
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const std::size_t at : rows) names.push_back(printable(input.rows[at].name));
    return names;
}

/// Returns the key by which fit_table() finds the importance of a column. Wall time and its parts
/// matter more than the running time of a call with all that it calls.
std::string_view key_of(const table_column& column, const table_input& input) {
    const bool running = input.is_running_time && column.data.name == "total_ns";
    return running ? std::string_view("running_ns") : column.data.name;
}

/// A cell with several lines, such as a stack, is not shortened.
shortening shortening_of(const text_form& which, const std::vector<std::string>& cells) {
    const auto is_long = [](const std::string& cell) { return cell.find('\n') != cell.npos; };
    if (which.wide == width::fixed || std::ranges::any_of(cells, is_long)) return shortening::none;
    return which.wide == width::source ? shortening::source : shortening::middle;
}

std::size_t width_of(const text_form& which, const std::vector<std::string>& cells,
                     const table_input& input, const table_options& options) {
    const std::string heading = heading_of(which, input);
    switch (which.wide) {
        case width::every_name:
            return column_width(every_name(input), {}, name_padding, options.max_name_column_width);
        case width::names:
            return column_width(cells, heading, name_padding, options.max_name_column_width);
        case width::shapes:
            return column_width(cells, heading, name_padding, options.max_shapes_column_width);
        case width::source:
            return column_width(lines_of(cells), heading, 0, options.max_src_column_width);
        case width::fixed: break;
    }
    return default_column_width;
}

}  // namespace

std::string device_title(const table_input& input) {
    std::string title = printable(input.device);
    for (char& each : title)
        each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    return title;
}

std::vector<laid_column> lay_columns(const table_input& input, const table_options& options,
                                     const std::vector<std::size_t>& rows) {
    std::vector<laid_column> laid;
    for (const table_column& column : table_columns()) {
        const text_form& each = column.text;
        if (each.shown == nullptr || !each.shown(input)) continue;
        std::vector<std::string> cells;
        cells.reserve(rows.size());
        for (const std::size_t at : rows) cells.push_back(each.cell({input, options, at}));
        if (each.wide == width::every_name && input.distinct_names && options.line_width == 0)
            tell_apart(cells, names_of(input, rows), options.max_name_column_width);
        const std::size_t wide = width_of(each, cells, input, options);
        const shortening how = shortening_of(each, cells);
        laid.push_back({{heading_of(each, input), wide, each.align},
                        std::move(cells),
                        key_of(column, input),
                        how});
    }
    return laid;
}

}  // namespace coroscope::analysis::inline tables
