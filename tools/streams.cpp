// SPDX-License-Identifier: Apache-2.0
#include "streams.hpp"

#include <memory>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

int run_streams(const data_options& asked) {
    const auto loaded = load_trace(asked);
    if (!loaded) return exit_failure;
    const analysis::listing list = analysis::list_streams(analysis::statistics_of_streams(*loaded));
    return print_listing(list, asked, analysis::loss_notes(*loaded),
                         "no item stream was recorded; coroscope table shows all ranges");
}

}  // namespace

void add_streams(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "streams", "Ranges over items: the delay of the first item, the gaps between the others");
    add_data_options(*command, *asked,
                     "items, count, first_item_p50, first_item_p95, first_item_max, gap_p50, "
                     "gap_p95, gap_max, lost_items, unfinished");
    command->footer("Example:\n  coroscope streams trace.cst --sort-by gap_p95");
    command->callback([asked, &line] { line.chosen = [asked] { return run_streams(*asked); }; });
}

}  // namespace coroscope::tools
