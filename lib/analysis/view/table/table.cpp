// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../text/text_grid.hpp"
#include "../../text/utf8.hpp"
#include "../../words/health.hpp"
#include "table_layout.hpp"
#include "table_order.hpp"
#include "table_rows.hpp"

namespace coroscope::analysis {
namespace {

std::string unseen_note(const table_input& input) {
    const bool least =
        std::any_of(input.rows.begin(), input.rows.end(), [](const function_event_avg& row) {
            return is_least_wait(row) && row.waiting_ns != 0;
        });
    if (input.device_rows || !least) return {};
    return "Waiting was suspended or queued, it is unknown which; + means at least\n";
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

/// Calls that are no whole calls have no place among the percentiles.
std::string partial_note(const table_input& input) {
    std::uint64_t partial = 0, calls = 0;
    for (const function_event_avg& row : input.rows) partial += row.partial_count;
    if (partial != 0)
        return fmt::format("Partial: {} calls that began before the session or the part shown, or "
                           "did not end in it; + means at least, and no minimum, maximum or "
                           "percentile counts them\n",
                           partial);
    for (const function_event_avg& row : input.rows)
        if (row.wall_percentiles) calls += row.count - row.wall_percentiles->count;
    if (calls == 0) return {};
    return fmt::format("Percentiles leave out {} calls whose begin or end is unknown\n", calls);
}

/// "Of it on-CPU: 3.1 s, blocked: 1.0 s, preempted: 20 ms, unknown: 1.2 ms (0.1 %)".
std::string states_line(const table_input& input, time_unit unit) {
    const state_times& times = input.self_states;
    std::string text = fmt::format(
        "Of it on-CPU: {}, blocked: {}, preempted: {}", format_time(times.on_cpu_ns, unit),
        format_time(times.blocked_ns, unit), format_time(times.preempted_ns, unit));
    if (times.unknown_ns != 0)
        text += fmt::format(", unknown: {} ({})", format_time(times.unknown_ns, unit),
                            format_percent(times.unknown_ns, times.total_ns()));
    return fmt::format("{}; by {}", text, input.states_source);
}

/// "Running time total: 100.0 ms, of which tasks ran 90.0 ms outside their scopes".
std::string running_line(const table_input& input, time_unit unit) {
    const std::int64_t outside_ns = input.running_time_total_ns - input.self_cpu_time_total_ns;
    return fmt::format("Running time total: {}, of which tasks ran {} outside their scopes",
                       format_time(input.running_time_total_ns, unit),
                       format_time(outside_ns, unit));
}

void write_note(text_grid& text, std::string_view note) {
    text.rule('=');
    text.line(printable(note));
}

void write_header(text_grid& text, const table_input& input, const table_options& options) {
    if (options.header) write_note(text, *options.header);
    if (!input.device_note.empty()) write_note(text, input.device_note);
    if (options.top_level_events_only)
        write_note(text, "This report only display top-level ops statistics");
    text.rule();
    text.headings();
    text.rule();
}

/// Writes the notes of a table without rows, which has no header and no footer for them.
std::string without_rows(const table_input& input) {
    std::string text;
    if (!input.device_note.empty()) text += printable(input.device_note) + '\n';
    for (const std::string& note : input.notes) text += printable(note) + '\n';
    for (const std::string& line : input.other_views) text += line + '\n';
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

/// Writes a row. The further frames of a stack are on lines of their own.
void write_row(text_grid& text, const std::vector<laid_column>& columns, std::size_t at) {
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
    std::vector<laid_column> columns = lay_columns(input, options, rows);
    std::vector<std::string> left_out;
    if (options.line_width != 0) left_out = fit_table(columns, options.line_width);
    std::vector<text_column> shown;
    shown.reserve(columns.size());
    for (const laid_column& each : columns) shown.push_back(each.column);
    text_grid text(shown);
    write_header(text, input, options);
    const bool stacks = has_stacks(input);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        write_row(text, columns, at);
        if (stacks) text.line({});
    }
    text.rule();
    if (!input.device_rows)
        text.line(fmt::format("Self {} time total: {}", input.is_running_time ? "running" : "CPU",
                              format_time(input.self_cpu_time_total_ns, options.unit)));
    if (has_states(input)) text.line(printable(states_line(input, options.unit)));
    if (input.running_time_total_ns > input.self_cpu_time_total_ns)
        text.line(running_line(input, options.unit));
    if (has_device_time(input)) {
        text.line(fmt::format("Self {} time total: {}", device_title(input),
                              format_time(input.self_device_time_total_ns, options.unit)));
    }
    for (const std::string& note : input.notes) text.line(printable(note));
    return std::move(text).take() + left_out_line(left_out);
}

}  // namespace

result<std::string> table(const table_input& input, const table_options& options) {
    const auto rows = chosen_rows(input, options);
    if (!rows) return rows.error();
    std::string text = input.rows.empty() ? without_rows(input) : lay_out(input, options, *rows);
    return text + unknown_note(input) + partial_note(input) + health_text(input.health);
}

}  // namespace coroscope::analysis
