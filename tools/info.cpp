// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <memory>

#include "data_command.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

int run_info(const data_options& asked) {
    const auto loaded = load_trace(asked.file);
    if (!loaded) return exit_failure;
    switch (asked.format) {
        case output_format::csv: return print(analysis::to_csv(analysis::list_threads(*loaded)));
        case output_format::json: return print(analysis::info_json(*loaded));
        case output_format::text: break;
    }
    return print_text(analysis::info_text(*loaded));
}

}  // namespace

void add_info(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command =
        root.add_subcommand("info", "What a trace holds, what it lost (csv: its threads)");
    add_file_options(*command, *asked);
    command->footer("Example:\n  coroscope info trace.cst --json");
    command->callback([asked, &line] { line.chosen = [asked] { return run_info(*asked); }; });
}

}  // namespace coroscope::tools
