// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <memory>

#include "data_command.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

struct awaits_command {
    data_options data;
    bool chains = false;
};

int run_awaits(const awaits_command& asked) {
    const auto loaded = load_trace(asked.data.file);
    if (!loaded) return exit_failure;
    const analysis::listing list =
        asked.chains ? analysis::list_await_chains(*loaded, analysis::await_chains(*loaded))
                     : analysis::list_await_sites(*loaded, analysis::await_statistics(*loaded));
    return print_listing(list, asked.data, analysis::loss_notes(*loaded));
}

}  // namespace

void add_awaits(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<awaits_command>();
    CLI::App* command = root.add_subcommand("awaits", "Where tasks waited, by await site");
    add_data_options(*command, asked->data,
                     "total, suspended, queued, waiting, count, and by await site also p50, p99, "
                     "max, unfinished");
    command->add_flag("--chains", asked->chains,
                      "By the chain of spawns and awaits that led there");
    command->footer("Example:\n  coroscope awaits trace.cst --sort-by max --limit 10");
    command->callback([asked, &line] { line.chosen = [asked] { return run_awaits(*asked); }; });
}

}  // namespace coroscope::tools
