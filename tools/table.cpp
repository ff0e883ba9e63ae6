// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <memory>

#include "data_command.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

struct table_command {
    data_options data{.sort_by = "wall", .limit = 100};
    std::string group_by = "name";
    std::string header;
    bool top_level = false;
    std::size_t name_width = 55;
};

analysis::result<std::string> render(const table_command& asked,
                                     const analysis::table_input& input) {
    analysis::table_options options;
    options.sort_by = asked.data.sort_by == "none" ? std::string() : asked.data.sort_by;
    options.row_limit = asked.data.limit;
    options.max_name_column_width = asked.name_width;
    options.top_level_events_only = asked.top_level;
    options.unit = asked.data.unit;
    if (!asked.header.empty()) options.header = asked.header;
    switch (asked.data.format) {
        case output_format::csv: return analysis::table_csv(input, options);
        case output_format::json: return analysis::table_json(input, options);
        case output_format::text: break;
    }
    return analysis::table(input, options);
}

struct grouping {
    analysis::average_key key;
    std::string attribute;
};

constexpr std::string_view attribute_prefix = "attr:";

grouping parse_grouping(const std::string& asked) {
    if (asked.starts_with(attribute_prefix))
        return {analysis::average_key::attribute, asked.substr(attribute_prefix.size())};
    return {asked == "line" ? analysis::average_key::source_line : analysis::average_key::name, {}};
}

std::string check_grouping(const std::string& asked) {
    const bool attribute =
        asked.starts_with(attribute_prefix) && asked.size() > attribute_prefix.size();
    if (attribute || asked == "name" || asked == "line") return {};
    return "cannot group by \"" + asked + "\"; one of name, line, attr:KEY";
}

int run_table(const table_command& asked) {
    const auto loaded = load_trace(asked.data.file);
    if (!loaded) return exit_failure;
    const grouping by = parse_grouping(asked.group_by);
    const auto text =
        render(asked, analysis::table_of(*loaded, by.key, by.attribute));
    if (!text) return usage_failure("--sort-by", text.error().message);
    return asked.data.format == output_format::text ? print_text(*text) : print(*text);
}

}  // namespace

void add_table(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<table_command>();
    CLI::App* command = root.add_subcommand("table", "Where scopes spent their time, by name");
    add_data_options(*command, asked->data, std::string(analysis::table_sort_keys()) + ", none");
    command->add_option("--group-by", asked->group_by, "What makes a row: name, line, attr:KEY")
        ->check(CLI::Validator(check_grouping, ""))
        ->type_name("");
    command->add_option("--header", asked->header, "A line above the table")->type_name("TEXT");
    command->add_flag("--top-level", asked->top_level, "Only scopes that no other encloses");
    command->add_option("--name-width", asked->name_width, "Characters of a name at most")
        ->type_name("COLUMNS")
        ->check(CLI::Range(std::size_t{4}, std::size_t{100'000}));
    command->footer("Example:\n  coroscope table trace.cst --sort-by suspended --limit 20");
    command->callback([asked, &line] { line.chosen = [asked] { return run_table(*asked); }; });
}

}  // namespace coroscope::tools
