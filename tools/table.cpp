// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/table.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "folding.hpp"
#include "output.hpp"
#include "table_grouping.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

// Text has only the first rows; CSV and JSON have every row.
constexpr std::int64_t limit_of_text = 100;
constexpr std::int64_t limit_not_given = -2;

struct table_command {
    data_options data{.sort_by = "wall", .limit = limit_not_given};
    fold_choice fold;
    std::string group_by = "name";
    std::string header;
    bool top_level = false;
    bool torch = false;
    bool device = false;
    bool percentiles = false;
    analysis::load_options how;
    std::size_t name_width = 0;  // 0: not given
    std::size_t source_width = 0;
    std::size_t shapes_width = 0;
};

/// To sort by a percentile also shows the percentiles.
bool has_percentiles(const table_command& asked) {
    constexpr std::string_view keys[] = {"p50", "p90", "p99", "max"};
    return asked.percentiles || std::ranges::find(keys, asked.data.sort_by) != std::end(keys);
}

/// Returns the maximum length of a text: --wide has none of its own.
std::size_t width_of(const table_command& asked, std::size_t given, std::size_t otherwise) {
    if (given != 0) return given;
    return asked.data.wide ? std::numeric_limits<std::int32_t>::max() : otherwise;
}

analysis::table_options options_of(const table_command& asked) {
    analysis::table_options options;
    options.sort_by = asked.data.sort_by == "none" ? std::string() : asked.data.sort_by;
    options.row_limit = asked.data.limit;
    if (asked.data.limit == limit_not_given)
        options.row_limit = asked.data.format == output_format::text ? limit_of_text : -1;
    options.max_name_column_width = width_of(asked, asked.name_width, 55);
    options.max_src_column_width = width_of(asked, asked.source_width, 75);
    options.max_shapes_column_width = width_of(asked, asked.shapes_width, 80);
    options.top_level_events_only = asked.top_level;
    options.unit = asked.data.unit;
    options.guard_formulas = asked.data.csv_safe;
    options.line_width = line_width(asked.data);
    if (!asked.header.empty()) options.header = asked.header;
    return options;
}

analysis::result<std::string> render(const table_command& asked,
                                     const analysis::table_input& input) {
    const analysis::table_options options = options_of(asked);
    switch (asked.data.format) {
        case output_format::csv: return analysis::table_csv(input, options);
        case output_format::json: return analysis::table_json(input, options);
        case output_format::text: break;
    }
    return analysis::table(input, options);
}

/// Adds the note "100 of 150 rows" if the limit leaves rows out.
void note_limit(const table_command& asked, analysis::table_input& input) {
    const auto rows = std::count_if(input.rows.begin(), input.rows.end(),
                                    [&asked](const analysis::function_event_avg& row) {
                                        return !asked.top_level || !row.has_parent;
                                    });
    const std::int64_t limit = options_of(asked).row_limit;
    if (limit >= 0 && limit < rows)
        input.notes.push_back(fmt::format("{} of {} rows", limit, rows));
}

void note_no_rows(const table_command& asked, analysis::table_input& input) {
    if (!input.rows.empty()) return;
    std::string note =
        asked.device ? "No kernel, copy or set is in the file" : "No scope or event is in the file";
    if (!asked.device && input.is_running_time && input.health.open_scopes_unknown)
        note += "; scopes that were open when the session stopped are unknown (open_scopes)";
    input.notes.push_back(std::move(note));
}

int print_table(const table_command& asked, analysis::table_input input) {
    if (asked.data.format == output_format::text) {
        note_no_rows(asked, input);
        note_limit(asked, input);
    }
    const auto text = render(asked, input);
    if (!text) return usage_failure("--sort-by", text.error().message + ", none");
    return asked.data.format == output_format::text ? print_view(*text, asked.data) : print(*text);
}

int print_events(const table_command& asked, const table_grouping& by,
                 const analysis::event_list& events) {
    if (by.needs_trace) {
        return usage_failure("--group-by", "line, task and attr:KEY need a native trace without "
                                           "--torch and --device; " +
                                               asked.data.file + " is read by torch's rules");
    }
    analysis::grouping grouping = by.events;
    grouping.select =
        asked.device ? analysis::event_selection::device : analysis::event_selection::cpu;
    analysis::table_input input = analysis::table_of(events, grouping);
    if (has_percentiles(asked)) analysis::add_percentiles(input.rows, events, grouping);
    return print_table(asked, std::move(input));
}

/// Adds a note if no attribute has the key: the table then has one row for each name, which looks
/// like a result.
void note_attribute(const std::string& key, const analysis::trace& loaded,
                    analysis::table_input& input) {
    std::set<std::string> keys;
    for (const analysis::attribute_info& each : loaded.attributes)
        if (each.key < loaded.strings.size()) keys.insert(one_line(loaded.strings[each.key]));
    if (key.empty() || keys.contains(one_line(key))) return;
    input.notes.push_back(fmt::format(
        "Nothing carried the attribute {}; {}", one_line(key),
        keys.empty() ? std::string("no attribute was recorded")
                     : fmt::format("the attributes of the trace are {}", fmt::join(keys, ", "))));
}

int print_trace(const table_command& asked, const table_grouping& by,
                const analysis::trace_averages& averages) {
    analysis::table_input input = analysis::table_of(averages, by.key, by.attribute);
    note_attribute(by.attribute, averages.loaded, input);
    for (std::string& note : unmatched(averages.loaded, asked.fold))
        input.notes.push_back(std::move(note));
    return print_table(asked, std::move(input));
}

int run_table(const table_command& asked) {
    const table_grouping by = parse_grouping(asked.group_by);
    analysis::load_options how = asked.how;
    how.jobs = asked.data.jobs;
    if (asked.torch || asked.device || by.needs_events) {
        const auto events = load_event_list(asked.data.file, how, asked.data.part);
        return events ? print_events(asked, by, *events) : exit_failure;
    }
    const auto loaded = load_averages(asked.data.file, {.key = by.key,
                                                        .attribute = by.attribute,
                                                        .fold = fold_options_of(asked.fold),
                                                        .how = how,
                                                        .jobs = how.jobs,
                                                        .part = asked.data.part,
                                                        .percentiles = has_percentiles(asked)});
    if (!loaded) return exit_failure;
    if (const auto* events = std::get_if<analysis::event_list>(&*loaded))
        return report_undivided(asked.data.file, asked.data.part)
                   ? exit_failure
                   : print_events(asked, by, *events);
    return print_trace(asked, by, std::get<analysis::trace_averages>(*loaded));
}

void add_widths(CLI::App& command, table_command& asked) {
    const auto add = [&command](const std::string& name, std::size_t& width,
                                const std::string& help) {
        command.add_option(name, width, help)
            ->type_name("COLUMNS")
            ->check(CLI::Range(std::size_t{4}, std::size_t{100'000}));
    };
    add("--name-width", asked.name_width, "Maximum length of a name");
    add("--source-width", asked.source_width, "Maximum length of a source location");
    add("--shapes-width", asked.shapes_width, "Maximum length of input shapes");
}

}  // namespace

void add_table(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<table_command>();
    CLI::App* command = root.add_subcommand("table", "The time of scopes, by name");
    add_data_options(*command, asked->data, std::string(analysis::table_sort_keys()) + ", none");
    command->add_option("--group-by", asked->group_by, "The key of a row: " + grouping_names())
        ->check(CLI::Validator(check_grouping, ""))
        ->type_name("");
    command->add_option("--header", asked->header, "A line above the table")->type_name("TEXT");
    command->add_flag("--top-level", asked->top_level, "Only scopes that no other scope encloses");
    command->add_flag("--torch", asked->torch,
                      "Read a native trace by torch's rules, like other files");
    command->add_flag("--device", asked->device,
                      "Kernels, copies and sets instead of the rows of the CPU");
    command->add_flag(
        "--percentiles", asked->percentiles,
        "Also p50, p90, p99 and the maximum of each row's calls, begin to end (exact)");
    add_reading_options(*command, asked->how);
    add_fold_option(*command, asked->fold);
    add_widths(*command, *asked);
    command->footer("Example:\n  coroscope table trace.cst --sort-by suspended --limit 20");
    command->callback([asked, &line] { line.chosen = [asked] { return run_table(*asked); }; });
}

}  // namespace coroscope::tools
