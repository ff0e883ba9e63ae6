// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <memory>

#include "data_command.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

int run_ranges(const data_options& asked) {
    const auto loaded = load_trace(asked.file);
    if (!loaded) return exit_failure;
    return print_listing(analysis::list_device_ranges(*loaded), asked,
                         analysis::loss_notes(*loaded));
}

}  // namespace

void add_ranges(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "ranges", "Ranges that ended with a stream of a device: what it did for them, and when");
    add_data_options(*command, *asked,
                     "start, total, device, device_queued, device_start, device_end");
    command->footer("Example:\n  coroscope ranges trace.cst --sort-by device_queued --limit 10");
    command->callback([asked, &line] { line.chosen = [asked] { return run_ranges(*asked); }; });
}

}  // namespace coroscope::tools
