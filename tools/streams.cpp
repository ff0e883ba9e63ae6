// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <memory>
#include <string>

#include "data_command.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

int run_streams(const data_options& asked) {
    const auto loaded = load_trace(asked.file);
    if (!loaded) return exit_failure;
    const analysis::listing list = analysis::list_streams(analysis::statistics_of_streams(*loaded));
    const std::string notes = analysis::loss_notes(*loaded);
    if (list.rows.empty() && asked.format == analysis::output_format::text)
        return print_text("no item stream was recorded; coroscope table shows all ranges\n" +
                          notes);
    return print_listing(list, asked, notes);
}

}  // namespace

void add_streams(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "streams", "What yielded items: the delay of the first, the gaps between the others");
    add_data_options(*command, *asked,
                     "items, count, first_item_p50, first_item_p95, first_item_max, gap_p50, "
                     "gap_p95, gap_max, lost_items, unfinished");
    command->footer("Example:\n  coroscope streams trace.cst --sort-by gap_p95");
    command->callback([asked, &line] { line.chosen = [asked] { return run_streams(*asked); }; });
}

}  // namespace coroscope::tools
