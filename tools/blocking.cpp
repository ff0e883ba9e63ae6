// SPDX-License-Identifier: Apache-2.0
#include "blocking.hpp"

#include <memory>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

const char* why_nothing(const analysis::trace& loaded) {
    if ((loaded.asked_for & coroscope::trace::feature_blocking) == 0)
        return "blocking calls were not recorded; use coroscope run --record blocking";
    return "no call lasted as long as the threshold, which COROSCOPE_BLOCKING_US sets";
}

int run_blocking(const data_options& asked) {
    const auto loaded = load_trace(asked);
    if (!loaded) return exit_failure;
    const analysis::listing list =
        analysis::list_blocking_calls(*loaded, analysis::statistics_of_blocking_calls(*loaded));
    return print_listing(list, asked, analysis::loss_notes(*loaded), why_nothing(*loaded));
}

}  // namespace

void add_blocking(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "blocking", "Calls of the C library that blocked a thread, with their scopes and tasks");
    add_data_options(*command, *asked, "total, count, p50, p99, max");
    command->footer("Example:\n  coroscope run --record blocking -- ./service\n"
                    "  coroscope blocking coroscope.cst --sort-by p99");
    command->callback([asked, &line] { line.chosen = [asked] { return run_blocking(*asked); }; });
}

}  // namespace coroscope::tools
