// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <memory>
#include <string>

#include "data_command.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

int run_ranges(const data_options& asked) {
    const auto loaded = load_trace(asked.file);
    if (!loaded) return exit_failure;
    const analysis::listing list = analysis::list_device_ranges(*loaded);
    const std::string notes = analysis::loss_notes(*loaded);
    if (list.rows.empty() && asked.format == analysis::output_format::text)
        return print_text(
            "no range ended with a device's stream; coroscope table shows all ranges\n" + notes);
    return print_listing(list, asked, notes);
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
