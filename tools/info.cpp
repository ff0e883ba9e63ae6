// SPDX-License-Identifier: Apache-2.0
#include "info.hpp"

#include <memory>
#include <string>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"
#include "output.hpp"
#include "run_end.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

/// Returns the text about open scopes. For a session that the program started itself, no other view
/// lists all open scopes.
std::string open_scopes_of(const analysis::trace& loaded) {
    const std::string text = open_scopes(loaded);
    return text.empty() ? text : '\n' + text;
}

int run_info(const data_options& asked) {
    const auto loaded = load_trace(asked, analysis::scopes_to_load::around_awaits);
    if (!loaded) return exit_failure;
    switch (asked.format) {
        case output_format::csv:
            return print(analysis::to_csv(analysis::list_threads(*loaded),
                                          {.guard_formulas = asked.csv_safe}));
        case output_format::json: return print(analysis::info_json(*loaded));
        case output_format::text: break;
    }
    return print_view(analysis::info_text(*loaded, {.line_width = line_width(asked)}) +
                          open_scopes_of(*loaded),
                      asked);
}

}  // namespace

void add_info(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command =
        root.add_subcommand("info", "The contents of a trace, and its losses (csv: its threads)");
    add_file_options(*command, *asked);
    command->footer("Example:\n  coroscope info trace.cst --json");
    command->callback([asked, &line] { line.chosen = [asked] { return run_info(*asked); }; });
}

}  // namespace coroscope::tools
