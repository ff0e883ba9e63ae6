// SPDX-License-Identifier: Apache-2.0
#include "locks.hpp"

#include <memory>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

const char* why_no_waits(const analysis::trace& loaded) {
    if ((loaded.asked_for & coroscope::trace::feature_locks) == 0)
        return "waits for locks were not recorded; use coroscope run --record locks";
    return "no thread waited for a lock";
}

int run_locks(const data_options& asked) {
    const auto loaded = load_trace(asked);
    if (!loaded) return exit_failure;
    const analysis::listing list =
        analysis::list_locks(*loaded, analysis::statistics_of_locks(*loaded));
    return print_listing(list, asked, analysis::loss_notes(*loaded), why_no_waits(*loaded));
}

}  // namespace

void add_locks(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "locks", "Waits for locks of the C library, and the work of the threads that held them");
    add_data_options(*command, *asked,
                     "total, waits, p50, p99, max, gave_up, holder_waits, unknown_holders");
    command->footer("Without --record locks it lists the waits that the recorder saw by looking at "
                    "blocked threads:\nthose of more than about 10 ms, as \"samples\".\n\n"
                    "Example:\n  coroscope run --record locks -- ./service\n"
                    "  coroscope locks coroscope.cst --sort-by p99");
    command->callback([asked, &line] { line.chosen = [asked] { return run_locks(*asked); }; });
}

}  // namespace coroscope::tools
