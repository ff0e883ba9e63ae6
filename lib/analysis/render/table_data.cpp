// SPDX-License-Identifier: Apache-2.0

// The rows of the table for other programs.

#include <coroscope/analysis/table.hpp>

#include "csv_writer.hpp"
#include "health.hpp"
#include "json_writer.hpp"
#include "table_rows.hpp"

namespace coroscope::analysis {
namespace {

using render::csv_writer;
using render::json_writer;
using render::known_sum;
using render::known_wait;

/// A column that both forms have: its name, when it is there, and what it holds of a row.
struct figure {
    std::string_view name;
    bool (*shown)(const table_input&);
    optional_ns (*value)(const function_event_avg&);
};

using row = function_event_avg;

bool always(const table_input&) { return true; }
bool is_cpu(const table_input& input) { return !input.device_rows; }
bool has_devices(const table_input& input) {
    return !input.device_rows && render::has_device_time(input);
}
bool has_memory(const table_input& input) { return !input.device_rows && input.memory_profile; }

std::int64_t total(const row& of) {
    return of.device == device_kind::cpu ? of.cpu_time_total_ns : of.device_time_total_ns;
}
std::int64_t self(const row& of) {
    return of.device == device_kind::cpu ? of.self_cpu_time_total_ns : of.self_device_time_total_ns;
}

constexpr figure figures[] = {
    {"count", always,
     [](const row& of) { return optional_ns(static_cast<std::int64_t>(of.count)); }},
    {"total_ns", always, [](const row& of) { return known_sum(of, total(of)); }},
    {"self_ns", is_cpu, [](const row& of) { return known_sum(of, self(of)); }},
    {"device_total_ns", has_devices,
     [](const row& of) { return optional_ns(of.device_time_total_ns); }},
    {"self_device_ns", has_devices,
     [](const row& of) { return optional_ns(of.self_device_time_total_ns); }},
    {"suspended_ns", is_cpu, [](const row& of) { return known_wait(of, of.suspended_ns); }},
    {"queued_ns", is_cpu, [](const row& of) { return known_wait(of, of.queued_ns); }},
    {"waiting_ns", is_cpu, [](const row& of) { return optional_ns(of.waiting_ns); }},
    {"wall_ns", is_cpu, [](const row& of) { return optional_ns(of.wall_ns); }},
    {"min_wall_ns", is_cpu, [](const row& of) { return optional_ns(of.min_wall_ns); }},
    {"max_wall_ns", is_cpu, [](const row& of) { return optional_ns(of.max_wall_ns); }},
    {"unknown_count", is_cpu,
     [](const row& of) { return optional_ns(static_cast<std::int64_t>(of.unknown_count)); }},
    {"cpu_memory_bytes", has_memory,
     [](const row& of) { return optional_ns(of.cpu_memory_usage); }},
    {"self_cpu_memory_bytes", has_memory,
     [](const row& of) { return optional_ns(of.self_cpu_memory_usage); }},
    {"device_memory_bytes", has_memory,
     [](const row& of) { return optional_ns(of.device_memory_usage); }},
    {"self_device_memory_bytes", has_memory,
     [](const row& of) { return optional_ns(of.self_device_memory_usage); }},
    {"flops", render::has_flops,
     [](const row& of) { return optional_ns(render::whole_flops(of)); }},
    {"node_id", render::has_nodes, [](const row& of) { return optional_ns(of.node_id); }},
};

struct text {
    std::string_view name;
    bool (*shown)(const table_input&);
    std::string function_event_avg::* value;
};

constexpr text texts[] = {
    {"overload_name", render::has_overloads, &row::overload_name},
    {"input_shapes", render::has_shapes, &row::input_shapes},
    {"stack", render::has_stacks, &row::stack},
};

std::string place_of(const table_input& input, std::size_t at) {
    return at < input.places.size() ? input.places[at] : std::string();
}

void write_csv_headings(csv_writer& csv, const table_input& input) {
    csv.cell(std::string_view("name")).cell(std::string_view("category"));
    for (const figure& each : figures)
        if (each.shown(input)) csv.cell(each.name);
    for (const text& each : texts)
        if (each.shown(input)) csv.cell(each.name);
    if (!input.group.empty()) csv.cell(std::string_view(input.group_column));
    if (!input.places.empty()) csv.cell(std::string_view("place"));
    csv.end_row();
}

void write_csv_row(csv_writer& csv, const table_input& input, std::size_t at) {
    const row& of = input.rows[at];
    csv.cell(of.name).cell(of.category);
    for (const figure& each : figures)
        if (each.shown(input)) csv.cell(each.value(of));
    for (const text& each : texts)
        if (each.shown(input)) csv.cell(of.*each.value);
    if (!input.group.empty()) csv.cell(input.group_values[at].value_or(std::string()));
    if (!input.places.empty()) csv.cell(place_of(input, at));
    csv.end_row();
}

/// CSV names the attribute in its header line; JSON has a member of one name for all of them.
std::string_view group_member(const table_input& input) {
    return input.group_column.starts_with("attr:") ? std::string_view("attribute")
                                                   : std::string_view(input.group_column);
}

void write_json_row(json_writer& json, const table_input& input, std::size_t at) {
    const row& of = input.rows[at];
    json.begin_object(json_writer::layout::compact);
    json.member("name", of.name).member("category", of.category);
    for (const figure& each : figures)
        if (each.shown(input)) json.member(each.name, each.value(of));
    for (const text& each : texts)
        if (each.shown(input)) json.member(each.name, of.*each.value);
    if (!input.group.empty()) json.member(group_member(input), input.group_values[at]);
    if (!input.places.empty()) json.member("place", place_of(input, at));
    json.end();
}

}  // namespace

result<std::string> table_csv(const table_input& input, const table_options& options) {
    const auto rows = render::chosen_rows(input, options);
    if (!rows) return rows.error();
    csv_writer csv;
    write_csv_headings(csv, input);
    for (const std::size_t at : *rows) write_csv_row(csv, input, at);
    return std::move(csv).take();
}

result<std::string> table_json(const table_input& input, const table_options& options) {
    const auto rows = render::chosen_rows(input, options);
    if (!rows) return rows.error();
    json_writer json;
    json.begin_object();
    json.member("self_cpu_time_total_ns", input.self_cpu_time_total_ns);
    if (render::has_device_time(input))
        json.member("self_device_time_total_ns", input.self_device_time_total_ns);
    json.key("rows").begin_array();
    for (const std::size_t at : *rows) write_json_row(json, input, at);
    json.end();
    render::write_health(json, input.health);
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
