// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "health.hpp"
#include "table_rows.hpp"
#include "text_table.hpp"
#include "utf8.hpp"

namespace coroscope::analysis {
namespace {

using render::alignment;
using render::known_sum;
using render::text_column;
using render::text_table;

constexpr std::size_t name_padding = 4;

/// One column: when it is there and what it shows of a row.
struct column {
    std::string_view heading;
    bool (*shown)(const table_input&);
    std::string (*cell)(const table_input&, const table_options&, std::size_t row);
    alignment align = alignment::right;
};

bool always(const table_input&) { return true; }

bool has_tasks(const table_input& input) {
    return input.has_tasks ||
           std::any_of(input.rows.begin(), input.rows.end(),
                       [](const event_average& row) { return row.in_frame_count != 0; });
}

bool has_places(const table_input& input) {
    return std::any_of(input.places.begin(), input.places.end(),
                       [](const std::string& place) { return !place.empty(); });
}

/// A plus says "at least": of some of the row's events it is unknown.
std::string time_cell(const event_average& row, std::int64_t sum_ns, const table_options& options) {
    const optional_ns known = known_sum(row, sum_ns);
    if (!known) return "unknown";
    return format_time(*known, options.unit) + (row.unknown_count != 0 ? "+" : "");
}

std::string name_cell(const table_input& input, const table_options& options, std::size_t row) {
    return render::cut_name(render::printable(input.rows[row].name), options.max_name_column_width);
}

std::string share_cell(const table_input& input, const event_average& row, std::int64_t sum_ns) {
    return known_sum(row, sum_ns) ? format_percent(sum_ns, input.self_running_total_ns) : "unknown";
}

bool has_attribute(const table_input& input) { return !input.attribute.empty(); }

std::string attribute_cell(const table_input& input, const table_options& options,
                           std::size_t row) {
    return render::cut_name(render::printable(input.attribute_values[row]),
                            options.max_name_column_width);
}

constexpr column columns[] = {
    {"Name", always, name_cell},
    {"", has_attribute, attribute_cell},  // under the attribute's key
    {"Self CPU %", always,
     [](const table_input& input, const table_options&, std::size_t row) {
         return share_cell(input, input.rows[row], input.rows[row].self_running_ns);
     }},
    {"Self CPU", always,
     [](const table_input& input, const table_options& options, std::size_t row) {
         return time_cell(input.rows[row], input.rows[row].self_running_ns, options);
     }},
    {"CPU total %", always,
     [](const table_input& input, const table_options&, std::size_t row) {
         return share_cell(input, input.rows[row], input.rows[row].running_ns);
     }},
    {"CPU total", always,
     [](const table_input& input, const table_options& options, std::size_t row) {
         return time_cell(input.rows[row], input.rows[row].running_ns, options);
     }},
    {"CPU time avg", always,
     [](const table_input& input, const table_options& options, std::size_t row) {
         const optional_ns average = render::running_average(input.rows[row]);
         return average ? format_time(*average, options.unit) : "unknown";
     }},
    {"Suspended", has_tasks,
     [](const table_input& input, const table_options& options, std::size_t row) {
         return time_cell(input.rows[row], input.rows[row].suspended_ns, options);
     }},
    {"Queued", has_tasks,
     [](const table_input& input, const table_options& options, std::size_t row) {
         return time_cell(input.rows[row], input.rows[row].queued_ns, options);
     }},
    {"Waiting", has_tasks,
     [](const table_input& input, const table_options& options, std::size_t row) {
         return format_time(input.rows[row].waiting_ns, options.unit);
     }},
    {"Wall", has_tasks,
     [](const table_input& input, const table_options& options, std::size_t row) {
         return format_time(input.rows[row].wall_ns(), options.unit);
     }},
    {"# of Calls", always,
     [](const table_input& input, const table_options&, std::size_t row) {
         return std::to_string(input.rows[row].count);
     }},
    {"Source Location", has_places,
     [](const table_input& input, const table_options& options, std::size_t row) {
         const std::string place = row < input.places.size() ? input.places[row] : std::string();
         return render::cut_source(render::printable(place), options.max_source_column_width);
     },
     alignment::left},
};

using cells = std::vector<std::string>;

cells column_cells(const column& which, const table_input& input, const table_options& options,
                   const std::vector<std::size_t>& rows) {
    cells out;
    out.reserve(rows.size());
    for (const std::size_t row : rows) out.push_back(which.cell(input, options, row));
    return out;
}

std::string heading_of(const column& which, const table_input& input) {
    return which.cell == attribute_cell ? render::printable(input.attribute)
                                        : std::string(which.heading);
}

/// torch measures every row that it was given, those beyond the limit too.
std::size_t name_width(const table_input& input, const table_options& options) {
    cells names;
    names.reserve(input.rows.size());
    for (const event_average& row : input.rows) names.push_back(render::printable(row.name));
    return render::column_width(names, {}, name_padding, options.max_name_column_width);
}

std::size_t width_of(const column& which, const cells& contents, const table_input& input,
                     const table_options& options) {
    if (which.cell == name_cell) return name_width(input, options);
    if (which.cell == attribute_cell)
        return render::column_width(contents, heading_of(which, input), name_padding,
                                    options.max_name_column_width);
    if (which.align == alignment::right) return render::default_column_width;
    return render::column_width(contents, which.heading, 0, options.max_source_column_width);
}

std::string unknown_note(const table_input& input) {
    std::uint64_t unknown = 0;
    for (const event_average& row : input.rows) unknown += row.unknown_count;
    if (unknown == 0) return {};
    return fmt::format(
        "Unknown: {} calls in coroutines that are not instrumented; all their time is under "
        "Waiting, and + means at least\n",
        unknown);
}

std::string lay_out(const table_input& input, const table_options& options,
                    const std::vector<std::size_t>& rows) {
    std::vector<text_column> shown;
    std::vector<cells> contents;
    for (const column& each : columns) {
        if (!each.shown(input)) continue;
        contents.push_back(column_cells(each, input, options, rows));
        shown.push_back(
            {heading_of(each, input), width_of(each, contents.back(), input, options), each.align});
    }
    text_table text(shown);
    if (options.header) {
        text.rule('=');
        text.line(render::printable(*options.header));
    }
    if (options.top_level_events_only) {
        text.rule('=');
        text.line("This report only display top-level ops statistics");
    }
    text.rule();
    text.headings();
    text.rule();
    for (std::size_t at = 0; at < rows.size(); ++at) {
        cells row;
        for (const cells& column_of : contents) row.push_back(column_of[at]);
        text.row(row);
    }
    text.rule();
    text.line("Self CPU time total: " + format_time(input.self_running_total_ns, options.unit));
    return std::move(text).take();
}

}  // namespace

result<std::string> table(const table_input& input, const table_options& options) {
    const auto rows = render::chosen_rows(input, options);
    if (!rows) return rows.error();
    std::string text = input.rows.empty() ? std::string() : lay_out(input, options, *rows);
    return text + unknown_note(input) + render::health_text(input.health);
}

}  // namespace coroscope::analysis
