// SPDX-License-Identifier: Apache-2.0
#include "resources.hpp"

#include <memory>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

int run_resources(const data_options& asked) {
    const auto loaded = load_trace(asked);
    if (!loaded) return exit_failure;
    const analysis::listing list =
        analysis::list_resources(*loaded, analysis::statistics_of_resources(*loaded));
    return print_listing(list, asked, analysis::loss_notes(*loaded),
                         "no wait for a resource was recorded; docs/how-to/resources.md shows how");
}

}  // namespace

void add_resources(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "resources", "The waits for mutexes, semaphores, pools and channels, and who held them");
    add_data_options(*command, *asked,
                     "total, p50, p99, max, waits, gave_up, instances, capacity, holder_waits, "
                     "unknown_holders");
    command->footer("Example:\n  coroscope resources trace.cst --sort-by p99");
    command->callback([asked, &line] { line.chosen = [asked] { return run_resources(*asked); }; });
}

}  // namespace coroscope::tools
