// SPDX-License-Identifier: Apache-2.0
#include "table_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "../../answer/whole_calls.hpp"
#include "../../text/utf8.hpp"
#include "divided_cells.hpp"
#include "table_rows.hpp"

namespace coroscope::analysis::inline tables {
namespace {

using row = function_event_avg;

bool always(const table_input&) { return true; }
bool is_cpu(const table_input& input) { return !input.device_rows; }
bool has_group(const table_input& input) { return !input.group.empty(); }
bool has_memory(const table_input& input) { return input.memory_profile && !input.device_rows; }
bool has_sources(const table_input& input) { return has_places(input) || has_stacks(input); }
bool is_by_place(const table_input& input) { return !input.places.empty(); }
bool has_devices_beside(const table_input& input) {
    return !input.device_rows && has_device_time(input);
}

/// A plus means "at least": the time of some of the row's events is unknown, in whole or in part.
std::string known_time(const cell_source& of, std::int64_t sum_ns) {
    const optional_ns known = known_sum(of.row(), sum_ns);
    if (!known) return "unknown";
    return of.time(*known) + (is_least(of.row()) ? "+" : "");
}

/// The same for suspended and queued time. A plus also follows if the row has waiting time, because
/// some of it may be suspended or queued time.
std::string known_wait_time(const cell_source& of, std::int64_t sum_ns) {
    const optional_ns known = known_wait(of.row(), sum_ns);
    if (!known) return "unknown";
    return of.time(*known) + (is_least_wait(of.row()) ? "+" : "");
}

std::string share(const cell_source& of, std::int64_t sum_ns) {
    const std::int64_t whole_ns =
        std::max(of.input.self_cpu_time_total_ns, of.input.running_time_total_ns);
    return known_sum(of.row(), sum_ns) ? format_percent(sum_ns, whole_ns) : "unknown";
}

std::string name_cell(const cell_source& of) {
    return cut_name(printable(of.row().name), of.limit(of.options.max_name_column_width));
}

std::string group_cell(const cell_source& of) {
    const auto& value = of.input.group_values[of.at];
    return cut_name(printable(value.value_or(std::string())),
                    of.limit(of.options.max_name_column_width));
}

std::string shapes_cell(const cell_source& of) {
    const std::string shapes = printable(of.row().input_shapes);
    return std::string(first_characters(shapes, of.limit(of.options.max_shapes_column_width)));
}

std::string source_cell(const cell_source& of) {
    const std::size_t limit = of.limit(of.options.max_src_column_width);
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

std::string overload_cell(const cell_source& of) {
    return cut_name(printable(of.row().overload_name), of.limit(of.options.max_name_column_width));
}

std::string average_cell(const cell_source& of) {
    const optional_ns average = cpu_average(of.row());
    if (!average) return "unknown";
    return of.time(*average) + (of.row().partial_count != 0 ? "+" : "");
}

std::string flops_cell(const cell_source& of) {
    if (!(of.row().flops > 0)) return "--";
    const auto scale = static_cast<double>(flops_scale(of.input));
    return fmt::format("{:8.3f}", of.row().flops / std::pow(1000.0, scale));
}

std::string flops_heading(const table_input& input) {
    constexpr std::string_view prefixes[] = {"", "K", "M", "G", "T", "P"};
    return fmt::format("Total {}FLOPs", prefixes[flops_scale(input)]);
}

// In CSV and JSON a row on a device has its time in the columns of the CPU's rows.
std::int64_t total(const row& of) {
    return of.device == device_kind::cpu ? of.cpu_time_total_ns : of.device_time_total_ns;
}
std::int64_t self(const row& of) {
    return of.device == device_kind::cpu ? of.self_cpu_time_total_ns : of.self_device_time_total_ns;
}

/// The grouping column's name. For an attribute, CSV's header line has "attr:" and its key; JSON's
/// member is "attribute" for every key.
std::string_view group_column(const table_input& input) { return input.group_column; }
std::string_view group_member(const table_input& input) {
    return input.group_column.starts_with("attr:") ? std::string_view("attribute")
                                                   : std::string_view(input.group_column);
}

// Cell functions for columns that differ only in the member they show.
template <std::int64_t row::* Member>
data_value figure(const cell_source& of) {
    return optional_ns(of.row().*Member);
}
template <std::uint64_t row::* Member>
data_value count_of(const cell_source& of) {
    return optional_ns(static_cast<std::int64_t>(of.row().*Member));
}
template <std::string row::* Member>
data_value text_of(const cell_source& of) {
    return std::optional<std::string>(of.row().*Member);
}
template <std::int64_t row::* Member>
data_value wait(const cell_source& of) {
    return known_wait(of.row(), of.row().*Member);
}
template <std::int64_t row::* Member>
std::int64_t sort_figure(const row& of) {
    return of.*Member;
}
template <std::int64_t row::* Member>
std::string time_cell(const cell_source& of) {
    return of.time(of.row().*Member);
}
/// The time from begin to end, or a part of it.
template <std::int64_t row::* Member>
std::string wall_cell(const cell_source& of) {
    return of.time(of.row().*Member) + (of.row().partial_count != 0 ? "+" : "");
}
template <std::int64_t row::* Member>
data_value whole_figure(const cell_source& of) {
    return has_whole_calls(of.row()) ? optional_ns(of.row().*Member) : optional_ns();
}
template <std::int64_t row::* Member>
std::string known_cell(const cell_source& of) {
    return known_time(of, of.row().*Member);
}
template <std::int64_t row::* Member>
std::string wait_cell(const cell_source& of) {
    return known_wait_time(of, of.row().*Member);
}
template <std::int64_t row::* Member>
std::string share_cell(const cell_source& of) {
    return share(of, of.row().*Member);
}
template <std::int64_t row::* Member>
std::string bytes_cell(const cell_source& of) {
    return format_bytes(of.row().*Member);
}
template <std::uint64_t row::* Member>
std::string count_cell(const cell_source& of) {
    return std::to_string(of.row().*Member);
}

constexpr state_part on_cpu = &state_times::on_cpu_ns;
constexpr state_part blocked = &state_times::blocked_ns;
constexpr state_part preempted = &state_times::preempted_ns;

constexpr table_column columns[] = {
    {.text = {"Name", always, name_cell, width::every_name},
     .data = {1, "name", always, text_of<&row::name>}},
    {.data = {2, "category", always, text_of<&row::category>}},
    {.text = {"Overload Name", has_overloads, overload_cell, width::names},
     .data = {22, "overload_name", has_overloads, text_of<&row::overload_name>}},
    {.text = {.shown = has_group,
              .cell = group_cell,
              .wide = width::names,
              .heading_of = [](const table_input& input) { return printable(input.group); }},
     .data = {.place = 25,
              .shown = has_group,
              .value = [](const cell_source& of) -> data_value {
                  return of.input.group_values[of.at];
              },
              .csv_name = group_column,
              .json_name = group_member}},
    {.text = {.heading = "Self CPU %",
              .shown = is_cpu,
              .cell = share_cell<&row::self_cpu_time_total_ns>,
              .of_running_time = "Self %"}},
    {.text = {.heading = "Self CPU",
              .shown = is_cpu,
              .cell = known_cell<&row::self_cpu_time_total_ns>,
              .of_running_time = "Self running"},
     .data = {5, "self_ns", is_cpu,
              [](const cell_source& of) -> data_value {
                  return known_sum(of.row(), self(of.row()));
              }},
     .sort = {2, "self_cpu_time_total", sort_figure<&row::self_cpu_time_total_ns>}},
    {.text = {.heading = "CPU total %",
              .shown = is_cpu,
              .cell = share_cell<&row::cpu_time_total_ns>,
              .of_running_time = "Running %"}},
    {.text = {.heading = "CPU total",
              .shown = is_cpu,
              .cell = known_cell<&row::cpu_time_total_ns>,
              .of_running_time = "Running"},
     .data = {4, "total_ns", always,
              [](const cell_source& of) -> data_value {
                  return known_sum(of.row(), total(of.row()));
              }},
     .sort = {1, "cpu_time_total", sort_figure<&row::cpu_time_total_ns>}},
    {.text = {.heading = "CPU time avg",
              .shown = is_cpu,
              .cell = average_cell,
              .of_running_time = "Running avg"},
     .sort = {3, "cpu_time", [](const row& of) { return cpu_average(of).value_or(0); }}},
    {.text = {"Self CPU", has_states, state_cell<&row::self_states, on_cpu>},
     .data = {28, "self_on_cpu_ns", has_states, state_figure<&row::self_states, on_cpu>},
     .sort = {18, "self_on_cpu", sort_state<&row::self_states, on_cpu>}},
    {.text = {"CPU", has_states, state_cell<&row::states, on_cpu>},
     .data = {27, "on_cpu_ns", has_states, state_figure<&row::states, on_cpu>},
     .sort = {17, "on_cpu", sort_state<&row::states, on_cpu>}},
    {.text = {"Self blocked", has_states, state_cell<&row::self_states, blocked>},
     .data = {30, "self_blocked_ns", has_states, state_figure<&row::self_states, blocked>},
     .sort = {20, "self_blocked", sort_state<&row::self_states, blocked>}},
    {.text = {"Blocked", has_states, state_cell<&row::states, blocked>},
     .data = {29, "blocked_ns", has_states, state_figure<&row::states, blocked>},
     .sort = {19, "blocked", sort_state<&row::states, blocked>}},
    {.data = {32, "self_preempted_ns", has_states, state_figure<&row::self_states, preempted>},
     .sort = {22, "self_preempted", sort_state<&row::self_states, preempted>}},
    {.text = {"Preempted", has_preempted, state_cell<&row::states, preempted>},
     .data = {31, "preempted_ns", has_states, state_figure<&row::states, preempted>},
     .sort = {21, "preempted", sort_state<&row::states, preempted>}},
    {.data = {33, "unknown_state_ns", has_states, unknown_figure<&row::states>}},
    {.data = {34, "self_unknown_state_ns", has_states, unknown_figure<&row::self_states>}},
    {.text = {"Suspended", has_waits, wait_cell<&row::suspended_ns>},
     .data = {8, "suspended_ns", is_cpu, wait<&row::suspended_ns>},
     .sort = {13, "suspended", sort_figure<&row::suspended_ns>}},
    {.text = {"Queued", has_waits, wait_cell<&row::queued_ns>},
     .data = {9, "queued_ns", is_cpu, wait<&row::queued_ns>},
     .sort = {14, "queued", sort_figure<&row::queued_ns>}},
    {.text = {"Waiting", has_waits, wall_cell<&row::waiting_ns>},
     .data = {10, "waiting_ns", is_cpu, figure<&row::waiting_ns>},
     .sort = {15, "waiting", sort_figure<&row::waiting_ns>}},
    {.text = {"Wall", has_waits, wall_cell<&row::wall_ns>},
     .data = {11, "wall_ns", is_cpu, figure<&row::wall_ns>},
     .sort = {16, "wall", sort_figure<&row::wall_ns>}},
    {.text = {"p50", has_percentiles, percentile_cell<&percentiles::p50_ns>},
     .data = {35, "p50_wall_ns", has_percentiles, percentile_figure<&percentiles::p50_ns>},
     .sort = {23, "p50", sort_percentile<&percentiles::p50_ns>}},
    {.text = {"p90", has_percentiles, percentile_cell<&percentiles::p90_ns>},
     .data = {36, "p90_wall_ns", has_percentiles, percentile_figure<&percentiles::p90_ns>},
     .sort = {24, "p90", sort_percentile<&percentiles::p90_ns>}},
    {.text = {"p99", has_percentiles, percentile_cell<&percentiles::p99_ns>},
     .data = {37, "p99_wall_ns", has_percentiles, percentile_figure<&percentiles::p99_ns>},
     .sort = {25, "p99", sort_percentile<&percentiles::p99_ns>}},
    {.text = {"Max", has_percentiles, percentile_cell<&percentiles::max_ns>},
     .data = {38, "max_whole_ns", has_percentiles, percentile_figure<&percentiles::max_ns>},
     .sort = {26, "max", sort_percentile<&percentiles::max_ns>}},
    {.data = {12, "min_wall_ns", is_cpu, whole_figure<&row::min_wall_ns>}},
    {.data = {13, "max_wall_ns", is_cpu, whole_figure<&row::max_wall_ns>}},
    {.data = {14, "unknown_count", is_cpu, count_of<&row::unknown_count>}},
    {.text = {"Self DEV", has_device_time, time_cell<&row::self_device_time_total_ns>},
     .data = {7, "self_device_ns", has_devices_beside, figure<&row::self_device_time_total_ns>},
     .sort = {5, "self_device_time_total", sort_figure<&row::self_device_time_total_ns>}},
    {.text = {"Self DEV %", has_device_time,
              [](const cell_source& of) {
                  return format_percent(of.row().self_device_time_total_ns,
                                        of.input.self_device_time_total_ns);
              }}},
    {.text = {"DEV total", has_device_time, time_cell<&row::device_time_total_ns>},
     .data = {6, "device_total_ns", has_devices_beside, figure<&row::device_time_total_ns>},
     .sort = {4, "device_time_total", sort_figure<&row::device_time_total_ns>}},
    {.text = {"DEV time avg", has_device_time,
              [](const cell_source& of) { return of.time(of.row().device_time_ns()); }},
     .sort = {6, "device_time", [](const row& of) { return of.device_time_ns(); }}},
    {.text = {"CPU Mem", has_memory, bytes_cell<&row::cpu_memory_usage>},
     .data = {15, "cpu_memory_bytes", has_memory, figure<&row::cpu_memory_usage>},
     .sort = {7, "cpu_memory_usage", sort_figure<&row::cpu_memory_usage>}},
    {.text = {"Self CPU Mem", has_memory, bytes_cell<&row::self_cpu_memory_usage>},
     .data = {16, "self_cpu_memory_bytes", has_memory, figure<&row::self_cpu_memory_usage>},
     .sort = {8, "self_cpu_memory_usage", sort_figure<&row::self_cpu_memory_usage>}},
    {.text = {"DEV Mem", has_device_memory, bytes_cell<&row::device_memory_usage>},
     .data = {17, "device_memory_bytes", has_memory, figure<&row::device_memory_usage>},
     .sort = {9, "device_memory_usage", sort_figure<&row::device_memory_usage>}},
    {.text = {"Self DEV Mem", has_device_memory, bytes_cell<&row::self_device_memory_usage>},
     .data = {18, "self_device_memory_bytes", has_memory, figure<&row::self_device_memory_usage>},
     .sort = {10, "self_device_memory_usage", sort_figure<&row::self_device_memory_usage>}},
    {.text = {"# of Calls", always, count_cell<&row::count>},
     .data = {3, "count", always, count_of<&row::count>},
     .sort = {12, "count", [](const row& of) { return static_cast<std::int64_t>(of.count); }}},
    {.text = {"Without end", has_unfinished, count_cell<&row::unfinished_count>},
     .data = {20, "unfinished_count", has_unfinished, count_of<&row::unfinished_count>}},
    {.data = {39, "partial_count", has_partial, count_of<&row::partial_count>}},
    {.text = {"Node ID", has_nodes,
              [](const cell_source& of) { return std::to_string(of.row().node_id); }},
     .data = {21, "node_id", has_nodes, figure<&row::node_id>}},
    {.text = {"Input Shapes", has_shapes, shapes_cell, width::shapes},
     .data = {23, "input_shapes", has_shapes, text_of<&row::input_shapes>}},
    {.data = {24, "stack", has_stacks, text_of<&row::stack>}},
    {.text = {"Source Location", has_sources, source_cell, width::source, alignment::left},
     .data = {26, "place", is_by_place,
              [](const cell_source& of) -> data_value {
                  return std::optional<std::string>(
                      of.at < of.input.places.size() ? of.input.places[of.at] : std::string());
              }}},
    {.text = {.shown = has_flops, .cell = flops_cell, .heading_of = flops_heading},
     .data = {19, "flops", has_flops,
              [](const cell_source& of) -> data_value {
                  return optional_ns(whole_flops(of.row()));
              }},
     .sort = {11, "flops", whole_flops}},
};

/// Returns whether the columns that have the form are numbered 1, 2, … without a gap.
template <class Form>
constexpr bool is_numbered(Form table_column::* form) {
    std::uint32_t count = 0;
    for (const table_column& each : columns) count += (each.*form).place != 0 ? 1 : 0;
    for (std::uint32_t place = 1; place <= count; ++place) {
        const auto has_place = [&](const table_column& each) {
            return (each.*form).place == place;
        };
        if (std::count_if(std::begin(columns), std::end(columns), has_place) != 1) return false;
    }
    return true;
}

static_assert(is_numbered(&table_column::data), "each place in the CSV is one column's");
static_assert(is_numbered(&table_column::sort), "each place among the sort keys is one column's");

/// Calls `use` with each sort key, in the order of their places.
template <class Use>
constexpr void for_each_sort_key(const Use& use) {
    for (std::uint32_t place = 1; place <= std::size(columns); ++place)
        for (const table_column& each : columns)
            if (each.sort.place == place) use(each.sort.key);
}

constexpr std::string_view separator = ", ";

constexpr std::size_t sort_keys_size = [] {
    std::size_t size = 0;
    for_each_sort_key([&](std::string_view key) { size += key.size() + separator.size(); });
    return size - separator.size();
}();

constexpr std::array<char, sort_keys_size> sort_keys_text = [] {
    std::array<char, sort_keys_size> text{};
    std::size_t at = 0;
    for_each_sort_key([&](std::string_view key) {
        for (const char each : at == 0 ? std::string_view() : separator) text[at++] = each;
        for (const char each : key) text[at++] = each;
    });
    return text;
}();

}  // namespace

std::size_t flops_scale(const table_input& input) {
    double least = std::numeric_limits<double>::infinity();
    for (const function_event_avg& row : input.rows)
        if (row.flops > 0) least = std::min(least, row.flops);
    constexpr double largest = 5;
    return static_cast<std::size_t>(std::clamp(std::floor(std::log10(least) / 3), 0.0, largest));
}

std::span<const table_column> table_columns() noexcept { return columns; }

}  // namespace coroscope::analysis::inline tables

namespace coroscope::analysis {

std::string_view table_sort_keys() noexcept {
    return {sort_keys_text.data(), sort_keys_text.size()};
}

}  // namespace coroscope::analysis
