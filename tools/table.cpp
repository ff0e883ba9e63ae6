// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include <coroscope/analysis/build_tree.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"
#include "subcommand.hpp"
#include "table_grouping.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

// Programs want every row; people are content with the first.
constexpr std::int64_t limit_of_text = 100;
constexpr std::int64_t limit_not_given = -2;

struct table_command {
    data_options data{.sort_by = "wall", .limit = limit_not_given};
    std::string group_by = "name";
    std::string header;
    bool top_level = false;
    bool torch = false;
    bool device = false;
    bool accept_nan = false;
    std::size_t name_width = 55;
    std::size_t source_width = 75;
    std::size_t shapes_width = 80;
};

analysis::table_options options_of(const table_command& asked) {
    analysis::table_options options;
    options.sort_by = asked.data.sort_by == "none" ? std::string() : asked.data.sort_by;
    options.row_limit = asked.data.limit;
    if (asked.data.limit == limit_not_given)
        options.row_limit = asked.data.format == output_format::text ? limit_of_text : -1;
    options.max_name_column_width = asked.name_width;
    options.max_src_column_width = asked.source_width;
    options.max_shapes_column_width = asked.shapes_width;
    options.top_level_events_only = asked.top_level;
    options.unit = asked.data.unit;
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

/// "100 of 150 rows", where the limit leaves rows out.
void note_limit(const table_command& asked, analysis::table_input& input) {
    const auto rows = std::count_if(input.rows.begin(), input.rows.end(),
                                    [&asked](const analysis::function_event_avg& row) {
                                        return !asked.top_level || !row.has_parent;
                                    });
    const std::int64_t limit = options_of(asked).row_limit;
    if (limit >= 0 && limit < rows)
        input.notes.push_back(fmt::format("{} of {} rows", limit, rows));
}

int print_table(const table_command& asked, analysis::table_input input) {
    if (asked.data.format == output_format::text) note_limit(asked, input);
    const auto text = render(asked, input);
    if (!text) return usage_failure("--sort-by", text.error().message + ", none");
    return asked.data.format == output_format::text ? print_text(*text) : print(*text);
}

int print_events(const table_command& asked, const table_grouping& by,
                 const analysis::event_list& events) {
    if (by.needs_trace) {
        return usage_failure("--group-by", "line, task and attr:KEY are of native traces without "
                                           "--torch and --device; " +
                                               asked.data.file + " is read in torch's words");
    }
    analysis::grouping grouping = by.events;
    grouping.select =
        asked.device ? analysis::event_selection::device : analysis::event_selection::cpu;
    return print_table(asked, analysis::table_of(events, grouping));
}

int run_table(const table_command& asked) {
    const table_grouping by = parse_grouping(asked.group_by);
    const analysis::load_options how{.accept_nan = asked.accept_nan};
    if (asked.torch || asked.device || by.needs_events) {
        const auto events = load_event_list(asked.data.file, how);
        return events ? print_events(asked, by, *events) : exit_failure;
    }
    const auto loaded = load_any_trace(asked.data.file, how);
    if (!loaded) return exit_failure;
    if (const auto* events = std::get_if<analysis::event_list>(&*loaded))
        return print_events(asked, by, *events);
    return print_table(
        asked, analysis::table_of(std::get<analysis::trace>(*loaded), by.key, by.attribute));
}

void add_widths(CLI::App& command, table_command& asked) {
    const auto add = [&command](const std::string& name, std::size_t& width,
                                const std::string& help) {
        command.add_option(name, width, help)
            ->type_name("COLUMNS")
            ->check(CLI::Range(std::size_t{4}, std::size_t{100'000}));
    };
    add("--name-width", asked.name_width, "Characters of a name at most");
    add("--source-width", asked.source_width, "Characters of a source location at most");
    add("--shapes-width", asked.shapes_width, "Characters of input shapes at most");
}

}  // namespace

void add_table(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<table_command>();
    CLI::App* command = root.add_subcommand("table", "Where scopes spent their time, by name");
    add_data_options(*command, asked->data, std::string(analysis::table_sort_keys()) + ", none");
    command->add_option("--group-by", asked->group_by, "What makes a row: " + grouping_names())
        ->check(CLI::Validator(check_grouping, ""))
        ->type_name("");
    command->add_option("--header", asked->header, "A line above the table")->type_name("TEXT");
    command->add_flag("--top-level", asked->top_level, "Only scopes that no other encloses");
    command->add_flag("--torch", asked->torch,
                      "A native trace by torch's rules, as other files are");
    command->add_flag("--device", asked->device,
                      "Kernels, copies and sets instead of the CPU's rows");
    command->add_flag("--accept-nan", asked->accept_nan,
                      "Read NaN and Infinity, which JSON does not have");
    add_widths(*command, *asked);
    command->footer("Example:\n  coroscope table trace.cst --sort-by suspended --limit 20");
    command->callback([asked, &line] { line.chosen = [asked] { return run_table(*asked); }; });
}

}  // namespace coroscope::tools
