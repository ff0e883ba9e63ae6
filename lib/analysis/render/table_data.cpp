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

void write_csv_row(csv_writer& csv, const table_input& input, std::size_t at) {
    const event_average& row = input.rows[at];
    csv.cell(row.name).cell(row.category).cell(row.count);
    csv.cell(known_sum(row, row.running_ns)).cell(known_sum(row, row.self_running_ns));
    csv.cell(known_sum(row, row.suspended_ns)).cell(known_sum(row, row.queued_ns));
    csv.cell(row.waiting_ns).cell(row.wall_ns());
    csv.cell(row.min_wall_ns).cell(row.max_wall_ns).cell(row.unknown_count);
    if (!input.attribute.empty()) csv.cell(input.attribute_values[at]);
    if (!input.places.empty())
        csv.cell(at < input.places.size() ? input.places[at] : std::string());
    csv.end_row();
}

// Null where the row's events carried none; the empty text is a value.
void write_json_attribute(json_writer& json, const table_input& input, std::size_t at) {
    json.key("attribute");
    if (input.rows[at].attribute == none)
        json.null();
    else
        json.string(input.attribute_values[at]);
}

void write_json_row(json_writer& json, const table_input& input, std::size_t at) {
    const event_average& row = input.rows[at];
    json.begin_object(json_writer::layout::compact);
    json.member("name", row.name).member("category", row.category).member("count", row.count);
    json.member("total_ns", known_sum(row, row.running_ns));
    json.member("self_ns", known_sum(row, row.self_running_ns));
    json.member("suspended_ns", known_sum(row, row.suspended_ns));
    json.member("queued_ns", known_sum(row, row.queued_ns));
    json.member("waiting_ns", row.waiting_ns).member("wall_ns", row.wall_ns());
    json.member("min_wall_ns", row.min_wall_ns).member("max_wall_ns", row.max_wall_ns);
    json.member("unknown_count", row.unknown_count);
    if (!input.attribute.empty()) write_json_attribute(json, input, at);
    if (!input.places.empty()) {
        json.member("place", at < input.places.size() ? input.places[at] : std::string());
    }
    json.end();
}

}  // namespace

result<std::string> table_csv(const table_input& input, const table_options& options) {
    const auto rows = render::chosen_rows(input, options);
    if (!rows) return rows.error();
    csv_writer csv;
    for (const char* heading :
         {"name", "category", "count", "total_ns", "self_ns", "suspended_ns", "queued_ns",
          "waiting_ns", "wall_ns", "min_wall_ns", "max_wall_ns", "unknown_count"}) {
        csv.cell(std::string_view(heading));
    }
    if (!input.attribute.empty()) csv.cell("attr:" + input.attribute);
    if (!input.places.empty()) csv.cell(std::string_view("place"));
    csv.end_row();
    for (const std::size_t at : *rows) write_csv_row(csv, input, at);
    return std::move(csv).take();
}

result<std::string> table_json(const table_input& input, const table_options& options) {
    const auto rows = render::chosen_rows(input, options);
    if (!rows) return rows.error();
    json_writer json;
    json.begin_object();
    json.member("self_cpu_time_total_ns", input.self_running_total_ns);
    json.key("rows").begin_array();
    for (const std::size_t at : *rows) write_json_row(json, input, at);
    json.end();
    render::write_health(json, input.health);
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
