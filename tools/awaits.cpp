// SPDX-License-Identifier: Apache-2.0
#include "awaits.hpp"

#include <memory>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"
#include "folding.hpp"

namespace coroscope::tools {
namespace {

struct awaits_command {
    data_options data;
    fold_choice fold;
    bool chains = false;
    bool blame = false;
};

analysis::listing listed(const awaits_command& asked, const analysis::trace& loaded) {
    if (asked.blame) return analysis::list_await_blame(loaded, analysis::blame_of_awaits(loaded));
    if (asked.chains) return analysis::list_await_chains(loaded, analysis::await_chains(loaded));
    return analysis::list_await_sites(loaded, analysis::await_statistics(loaded));
}

int run_awaits(const awaits_command& asked) {
    // Blame names any scope that ran in the meantime.
    const auto scopes =
        asked.blame ? analysis::scopes_to_load::all : analysis::scopes_to_load::around_awaits;
    const auto loaded = folded(load_trace(asked.data, scopes), asked.fold);
    if (!loaded) return exit_failure;
    return print_listing(listed(asked, *loaded), asked.data, loss_notes(*loaded, asked.fold),
                         loaded->health.folded_tasks == 0
                             ? "no await was recorded"
                             : "no task that is shown awaited anything");
}

}  // namespace

void add_awaits(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<awaits_command>();
    CLI::App* command = root.add_subcommand("awaits", "The waits of tasks, by await site");
    add_data_options(
        *command, asked->data,
        "total, suspended, queued, waiting, count, unknown_wakes, wakes_by_resume, "
        "unfinished, partial, device, device_queued; without --chains also p50, p99, max, "
        "values, errors, exceptions, cancelled, unknown_outcomes; with --blame total, count");
    CLI::Option* chains = command->add_flag("--chains", asked->chains,
                                            "By the chain of spawns and awaits that led there");
    command
        ->add_flag("--blame", asked->blame,
                   "One row for each pair of a waiting place and a place that made it wait")
        ->excludes(chains);
    add_fold_option(*command, asked->fold);
    command->footer("Example:\n  coroscope awaits trace.cst --sort-by max --limit 10");
    command->callback([asked, &line] { line.chosen = [asked] { return run_awaits(*asked); }; });
}

}  // namespace coroscope::tools
