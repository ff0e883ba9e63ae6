// SPDX-License-Identifier: Apache-2.0
#include "executors.hpp"

#include <memory>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

int run_executors(const data_options& asked) {
    const auto loaded = load_trace(asked);
    if (!loaded) return exit_failure;
    const auto statistics = analysis::statistics_of_executors(*loaded);
    const std::string notes =
        analysis::saturation_notes(*loaded, statistics) + analysis::loss_notes(*loaded);
    return print_listing(analysis::list_executors(*loaded, statistics), asked, notes,
                         "no executor was recorded; docs/how-to/executors.md shows which are");
}

}  // namespace

void add_executors(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "executors", "The threads, the busy time and the queues of executors: pools, strands, …");
    add_data_options(*command, *asked,
                     "queued_while_busy, queued, p50, p99, max, mean_length_hundredths, "
                     "p99_length, max_length, busy, on_cpu, blocked, preempted, unknown_state, "
                     "occupant, jobs, threads, waiting");
    command->footer("Example:\n  coroscope executors trace.cst --sort-by p99");
    command->callback([asked, &line] { line.chosen = [asked] { return run_executors(*asked); }; });
}

}  // namespace coroscope::tools
