// SPDX-License-Identifier: Apache-2.0
#include "values.hpp"

#include <memory>

#include <coroscope/analysis/value_statistics.hpp>
#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

struct values_command {
    data_options data;
    bool attributes = false;
};

int run_values(const values_command& asked) {
    const auto loaded = load_trace(asked.data);
    if (!loaded) return exit_failure;
    if (asked.attributes)
        return print_listing(analysis::list_attributes(analysis::statistics_of_attributes(*loaded)),
                             asked.data, analysis::loss_notes(*loaded),
                             "no attribute with a number was recorded");
    const analysis::listing list =
        analysis::list_values(*loaded, analysis::statistics_of_values(*loaded));
    return print_listing(list, asked.data, analysis::loss_notes(*loaded),
                         "no value was recorded; docs/how-to/requests.md shows how");
}

}  // namespace

void add_values(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<values_command>();
    CLI::App* command = root.add_subcommand(
        "values", "The numbers that the program recorded, by place and by the scope around them");
    add_data_options(*command, asked->data, "count, min, mean, p99, max, not_numbers");
    command->add_flag("--attributes", asked->attributes,
                      "The attributes whose values are numbers, one row for each key");
    command->footer("Example:\n  coroscope values trace.cst --sort-by max\n  coroscope values "
                    "trace.cst --attributes");
    command->callback([asked, &line] { line.chosen = [asked] { return run_values(*asked); }; });
}

}  // namespace coroscope::tools
