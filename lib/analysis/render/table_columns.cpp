// SPDX-License-Identifier: Apache-2.0
#include "table_columns.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "table_rows.hpp"
#include "utf8.hpp"

namespace coroscope::analysis::render {
namespace {

constexpr std::size_t name_padding = 4;

/// What a cell is made from.
struct cell_source {
    const table_input& input;
    const table_options& options;
    std::size_t at;
    [[nodiscard]] const function_event_avg& row() const { return input.rows[at]; }
    [[nodiscard]] std::string time(std::int64_t nanoseconds) const {
        return format_time(nanoseconds, options.unit);
    }
};

enum class width : unsigned char { fixed, names, shapes, source };

/// One column: when it is there and what it shows of a row. "DEV" in a heading is the device's name.
struct column {
    std::string_view heading;
    bool (*shown)(const table_input&);
    std::string (*cell)(const cell_source&);
    width wide = width::fixed;
    alignment align = alignment::right;
};

bool always(const table_input&) { return true; }
bool is_cpu(const table_input& input) { return !input.device_rows; }
bool has_group(const table_input& input) { return !input.group.empty(); }
bool has_memory(const table_input& input) { return input.memory_profile && !input.device_rows; }
bool has_sources(const table_input& input) { return has_places(input) || has_stacks(input); }

/// A plus says "at least": of some of the row's events it is unknown.
std::string known_time(const cell_source& of, std::int64_t sum_ns) {
    const optional_ns known = known_sum(of.row(), sum_ns);
    if (!known) return "unknown";
    return of.time(*known) + (of.row().unknown_count != 0 ? "+" : "");
}

/// And beside waiting time, of which nobody knows what it was.
std::string known_wait_time(const cell_source& of, std::int64_t sum_ns) {
    const optional_ns known = known_wait(of.row(), sum_ns);
    if (!known) return "unknown";
    return of.time(*known) + (is_least_wait(of.row()) ? "+" : "");
}

std::string share(const cell_source& of, std::int64_t sum_ns) {
    return known_sum(of.row(), sum_ns) ? format_percent(sum_ns, of.input.self_cpu_time_total_ns)
                                       : "unknown";
}

std::string name_cell(const cell_source& of) {
    return cut_name(printable(of.row().name), of.options.max_name_column_width);
}

std::string group_cell(const cell_source& of) {
    const auto& value = of.input.group_values[of.at];
    return cut_name(printable(value.value_or(std::string())), of.options.max_name_column_width);
}

std::string shapes_cell(const cell_source& of) {
    const std::string shapes = printable(of.row().input_shapes);
    return std::string(first_characters(shapes, of.options.max_shapes_column_width));
}

std::string source_cell(const cell_source& of) {
    const std::size_t limit = of.options.max_src_column_width;
    if (!of.input.places.empty()) return cut_source(printable(of.input.places[of.at]), limit);
    std::string lines;
    std::string_view stack = of.row().stack;
    while (!stack.empty()) {
        const std::string_view frame = stack.substr(0, stack.find('\n'));
        if (!lines.empty()) lines += '\n';
        lines += cut_source(printable(frame), limit);
        stack.remove_prefix(std::min(frame.size() + 1, stack.size()));
    }
    return lines;
}

std::size_t flops_scale(const table_input& input) {
    double least = std::numeric_limits<double>::infinity();
    for (const function_event_avg& row : input.rows)
        if (row.flops > 0) least = std::min(least, row.flops);
    constexpr double largest = 5;
    return static_cast<std::size_t>(std::clamp(std::floor(std::log10(least) / 3), 0.0, largest));
}

std::string flops_cell(const cell_source& of) {
    if (!(of.row().flops > 0)) return "--";
    const auto scale = static_cast<double>(flops_scale(of.input));
    return fmt::format("{:8.3f}", of.row().flops / std::pow(1000.0, scale));
}

constexpr column columns[] = {
    {"Name", always, name_cell, width::names},
    {"Overload Name", has_overloads,
     [](const cell_source& of) {
         return cut_name(printable(of.row().overload_name), of.options.max_name_column_width);
     },
     width::names},
    {"", has_group, group_cell, width::names},  // under what rows are grouped by
    {"Self CPU %", is_cpu,
     [](const cell_source& of) { return share(of, of.row().self_cpu_time_total_ns); }},
    {"Self CPU", is_cpu,
     [](const cell_source& of) { return known_time(of, of.row().self_cpu_time_total_ns); }},
    {"CPU total %", is_cpu,
     [](const cell_source& of) { return share(of, of.row().cpu_time_total_ns); }},
    {"CPU total", is_cpu,
     [](const cell_source& of) { return known_time(of, of.row().cpu_time_total_ns); }},
    {"CPU time avg", is_cpu,
     [](const cell_source& of) {
         const optional_ns average = cpu_average(of.row());
         return average ? of.time(*average) : "unknown";
     }},
    {"Suspended", has_waits,
     [](const cell_source& of) { return known_wait_time(of, of.row().suspended_ns); }},
    {"Queued", has_waits,
     [](const cell_source& of) { return known_wait_time(of, of.row().queued_ns); }},
    {"Waiting", has_waits, [](const cell_source& of) { return of.time(of.row().waiting_ns); }},
    {"Wall", has_waits, [](const cell_source& of) { return of.time(of.row().wall_ns); }},
    {"Self DEV", has_device_time,
     [](const cell_source& of) { return of.time(of.row().self_device_time_total_ns); }},
    {"Self DEV %", has_device_time,
     [](const cell_source& of) {
         return format_percent(of.row().self_device_time_total_ns,
                               of.input.self_device_time_total_ns);
     }},
    {"DEV total", has_device_time,
     [](const cell_source& of) { return of.time(of.row().device_time_total_ns); }},
    {"DEV time avg", has_device_time,
     [](const cell_source& of) { return of.time(of.row().device_time_ns()); }},
    {"CPU Mem", has_memory,
     [](const cell_source& of) { return format_bytes(of.row().cpu_memory_usage); }},
    {"Self CPU Mem", has_memory,
     [](const cell_source& of) { return format_bytes(of.row().self_cpu_memory_usage); }},
    {"DEV Mem", has_device_memory,
     [](const cell_source& of) { return format_bytes(of.row().device_memory_usage); }},
    {"Self DEV Mem", has_device_memory,
     [](const cell_source& of) { return format_bytes(of.row().self_device_memory_usage); }},
    {"# of Calls", always, [](const cell_source& of) { return std::to_string(of.row().count); }},
    {"Node ID", has_nodes, [](const cell_source& of) { return std::to_string(of.row().node_id); }},
    {"Input Shapes", has_shapes, shapes_cell, width::shapes},
    {"Source Location", has_sources, source_cell, width::source, alignment::left},
    {"Total FLOPs", has_flops, flops_cell},
};

std::string flops_heading(const table_input& input) {
    constexpr std::string_view prefixes[] = {"", "K", "M", "G", "T", "P"};
    return fmt::format("Total {}FLOPs", prefixes[flops_scale(input)]);
}

std::string heading_of(const column& which, const table_input& input) {
    if (which.cell == group_cell) return printable(input.group);
    if (which.cell == flops_cell) return flops_heading(input);
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

/// torch measures every row that it was given, those beyond the limit too.
std::vector<std::string> every_name(const table_input& input) {
    std::vector<std::string> names;
    names.reserve(input.rows.size());
    for (const function_event_avg& row : input.rows) names.push_back(printable(row.name));
    return names;
}

std::size_t width_of(const column& which, const std::vector<std::string>& cells,
                     const table_input& input, const table_options& options) {
    if (which.cell == name_cell)
        return column_width(every_name(input), {}, name_padding, options.max_name_column_width);
    const std::string heading = heading_of(which, input);
    switch (which.wide) {
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
    for (const column& each : columns) {
        if (!each.shown(input)) continue;
        std::vector<std::string> cells;
        cells.reserve(rows.size());
        for (const std::size_t at : rows) cells.push_back(each.cell({input, options, at}));
        const std::size_t wide = width_of(each, cells, input, options);
        laid.push_back({{heading_of(each, input), wide, each.align}, std::move(cells)});
    }
    return laid;
}

}  // namespace coroscope::analysis::render
