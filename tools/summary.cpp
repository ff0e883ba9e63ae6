// SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <coroscope/analysis/views.hpp>

#include "data_command.hpp"

namespace coroscope::tools {
namespace {

int run_summary(const data_options& asked) {
    const auto loaded = load_trace(asked);
    if (!loaded) return exit_failure;
    return print_view(analysis::summary(*loaded, {.line_width = line_width(asked)}, asked.file),
                      asked);
}

}  // namespace

void add_summary(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "summary", "Where the time of a recording went, on about one screen: coroscope FILE");
    command->add_option("FILE", asked->file, "The trace")->required()->type_name("");
    add_width_options(*command, *asked);
    add_part_options(*command, asked->part);
    add_jobs_option(*command, asked->jobs);
    command->footer("Example:\n  coroscope trace.cst");
    command->callback([asked, &line] { line.chosen = [asked] { return run_summary(*asked); }; });
}

void complete_summary(const CLI::App& root, std::vector<std::string>& arguments) {
    if (arguments.empty()) return;
    const auto is_named = [&arguments](const CLI::App* each) {
        return each->get_name() == arguments.front();
    };
    if (!root.get_subcommands(is_named).empty()) return;
    std::error_code error;
    if (std::filesystem::is_regular_file(arguments.front(), error))
        arguments.insert(arguments.begin(), "summary");
}

}  // namespace coroscope::tools
