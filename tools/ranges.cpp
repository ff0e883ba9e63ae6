// SPDX-License-Identifier: Apache-2.0
#include "ranges.hpp"

#include <memory>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

int run_ranges(const data_options& asked) {
    const auto loaded = load_trace(asked);
    if (!loaded) return exit_failure;
    const analysis::listing list = analysis::list_device_ranges(*loaded);
    return print_listing(list, asked, analysis::loss_notes(*loaded),
                         "no range ended with a device's stream; coroscope table shows all ranges");
}

}  // namespace

void add_ranges(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "ranges",
        "Ranges that ended with a stream of a device: the device's work for them, with times");
    add_data_options(*command, *asked,
                     "start, total, device, device_queued, device_start, device_end, task");
    command->footer("Example:\n  coroscope ranges trace.cst --sort-by device_queued --limit 10");
    command->callback([asked, &line] { line.chosen = [asked] { return run_ranges(*asked); }; });
}

}  // namespace coroscope::tools
