// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "health.hpp"
#include "table_columns.hpp"
#include "table_rows.hpp"
#include "text_table.hpp"
#include "utf8.hpp"

namespace coroscope::analysis {
namespace {

using render::laid_column;

std::string unseen_note(const table_input& input) {
    const bool least = std::any_of(input.rows.begin(), input.rows.end(), render::is_least_wait);
    if (input.device_rows || !least) return {};
    return "Waiting was suspended or queued, nobody saw which; + means at least\n";
}

std::string unknown_note(const table_input& input) {
    std::uint64_t unknown = 0;
    for (const function_event_avg& row : input.rows) unknown += row.unknown_count;
    if (unknown == 0) return unseen_note(input);
    return fmt::format("Unknown: {} calls in coroutines that are not instrumented or had begun "
                       "before the session, or ranges outside "
                       "tasks; all their time is under Waiting, and + means at least\n",
                       unknown);
}

void write_note(render::text_table& text, std::string_view note) {
    text.rule('=');
    text.line(render::printable(note));
}

void write_header(render::text_table& text, const table_input& input,
                  const table_options& options) {
    if (options.header) write_note(text, *options.header);
    if (!input.device_note.empty()) write_note(text, input.device_note);
    if (options.top_level_events_only)
        write_note(text, "This report only display top-level ops statistics");
    text.rule();
    text.headings();
    text.rule();
}

/// Without rows there is neither header nor footer to say it in.
std::string without_rows(const table_input& input) {
    std::string text;
    if (!input.device_note.empty()) text += render::printable(input.device_note) + '\n';
    for (const std::string& note : input.notes) text += render::printable(note) + '\n';
    return text;
}

std::string_view line_of(std::string_view cell, std::size_t number) {
    for (; number > 0; --number) {
        const std::size_t end = cell.find('\n');
        if (end == std::string_view::npos) return {};
        cell.remove_prefix(end + 1);
    }
    return cell.substr(0, cell.find('\n'));
}

/// A stack's further frames stand on lines of their own.
void write_row(render::text_table& text, const std::vector<laid_column>& columns, std::size_t at) {
    std::size_t lines = 1;
    for (const laid_column& each : columns) {
        const auto ends = std::count(each.cells[at].begin(), each.cells[at].end(), '\n');
        lines = std::max(lines, static_cast<std::size_t>(ends) + 1);
    }
    for (std::size_t number = 0; number < lines; ++number) {
        std::vector<std::string> cells;
        cells.reserve(columns.size());
        for (const laid_column& each : columns) cells.emplace_back(line_of(each.cells[at], number));
        text.row(cells);
    }
}

std::string lay_out(const table_input& input, const table_options& options,
                    const std::vector<std::size_t>& rows) {
    const std::vector<laid_column> columns = render::lay_columns(input, options, rows);
    std::vector<render::text_column> shown;
    shown.reserve(columns.size());
    for (const laid_column& each : columns) shown.push_back(each.column);
    render::text_table text(shown);
    write_header(text, input, options);
    const bool stacks = render::has_stacks(input);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        write_row(text, columns, at);
        if (stacks) text.line({});
    }
    text.rule();
    if (!input.device_rows)
        text.line("Self CPU time total: " +
                  format_time(input.self_cpu_time_total_ns, options.unit));
    if (render::has_device_time(input)) {
        text.line(fmt::format("Self {} time total: {}", render::device_title(input),
                              format_time(input.self_device_time_total_ns, options.unit)));
    }
    for (const std::string& note : input.notes) text.line(render::printable(note));
    return std::move(text).take();
}

}  // namespace

result<std::string> table(const table_input& input, const table_options& options) {
    const auto rows = render::chosen_rows(input, options);
    if (!rows) return rows.error();
    std::string text = input.rows.empty() ? without_rows(input) : lay_out(input, options, *rows);
    return text + unknown_note(input) + render::health_text(input.health);
}

}  // namespace coroscope::analysis
