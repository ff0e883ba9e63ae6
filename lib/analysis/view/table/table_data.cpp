// SPDX-License-Identifier: Apache-2.0

// Writes the rows of the table as CSV and JSON.

#include <coroscope/analysis/table.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../../text/csv_writer.hpp"
#include "../../text/json_writer.hpp"
#include "../../words/health.hpp"
#include "table_columns.hpp"
#include "table_order.hpp"
#include "table_rows.hpp"

namespace coroscope::analysis {
namespace {

/// Returns the columns of a table, in the order of their places. This is done once per table,
/// because `shown` looks at all rows.
std::vector<const table_column*> shown_columns(const table_input& input) {
    std::vector<const table_column*> shown;
    for (const table_column& each : table_columns())
        if (each.data.shown != nullptr && each.data.shown(input)) shown.push_back(&each);
    std::ranges::sort(shown, {}, [](const table_column* each) { return each->data.place; });
    return shown;
}

void write_csv_headings(csv_writer& csv, const table_input& input,
                        const std::vector<const table_column*>& shown) {
    for (const table_column* each : shown)
        csv.cell(each->data.csv_name != nullptr ? each->data.csv_name(input) : each->data.name);
    csv.end_row();
}

void write_csv_cell(csv_writer& csv, const data_value& value) {
    if (const auto* figure = std::get_if<optional_ns>(&value))
        csv.cell(*figure);
    else
        csv.cell(std::get<std::optional<std::string>>(value).value_or(std::string()));
}

void write_json_row(json_writer& json, const cell_source& of,
                    const std::vector<const table_column*>& shown) {
    json.begin_object(json_writer::layout::compact);
    for (const table_column* each : shown) {
        const std::string_view name =
            each->data.json_name != nullptr ? each->data.json_name(of.input) : each->data.name;
        std::visit([&](const auto& value) { json.member(name, value); }, each->data.value(of));
    }
    json.end();
}

}  // namespace

result<std::string> table_csv(const table_input& input, const table_options& options) {
    const auto rows = chosen_rows(input, options);
    if (!rows) return rows.error();
    const std::vector<const table_column*> shown = shown_columns(input);
    csv_writer csv(options.guard_formulas);
    write_csv_headings(csv, input, shown);
    for (const std::size_t at : *rows) {
        for (const table_column* each : shown)
            write_csv_cell(csv, each->data.value({input, options, at}));
        csv.end_row();
    }
    return std::move(csv).take();
}

result<std::string> table_json(const table_input& input, const table_options& options) {
    const auto rows = chosen_rows(input, options);
    if (!rows) return rows.error();
    const std::vector<const table_column*> shown = shown_columns(input);
    json_writer json;
    json.begin_object();
    json.member("self_cpu_time_total_ns", input.self_cpu_time_total_ns);
    if (input.is_running_time) json.member("running_time_total_ns", input.running_time_total_ns);
    if (has_device_time(input))
        json.member("self_device_time_total_ns", input.self_device_time_total_ns);
    if (has_states(input)) {
        json.member("thread_states", input.states_source_name);
        json.member("self_on_cpu_total_ns", input.self_states.on_cpu_ns);
        json.member("self_blocked_total_ns", input.self_states.blocked_ns);
        json.member("self_preempted_total_ns", input.self_states.preempted_ns);
        json.member("self_unknown_state_total_ns", input.self_states.unknown_ns);
    }
    json.key("rows").begin_array();
    for (const std::size_t at : *rows) write_json_row(json, {input, options, at}, shown);
    json.end();
    write_health(json, input.health);
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
