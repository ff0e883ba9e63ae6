// SPDX-License-Identifier: Apache-2.0

// The coroscope command: reads traces and says where the time went.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "child_process.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace {

using namespace coroscope::tools;

/// Where the program of `run` begins among `arguments`, whose first is "run": behind "--", else at
/// the first that is no option of run. Its own options must not be read as ours.
std::size_t program_start(const std::vector<std::string>& arguments) {
    for (std::size_t at = 1; at < arguments.size(); ++at) {
        if (std::ranges::find(run_options_with_values, arguments[at]) !=
            std::end(run_options_with_values)) {
            ++at;
        } else if (!arguments[at].starts_with('-') || arguments[at] == "--") {
            return at;
        }
    }
    return arguments.size();
}

/// Takes the program of `run` away from `arguments`.
std::vector<std::string> split_program(std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front() != "run") return {};
    const auto start = arguments.begin() + static_cast<std::ptrdiff_t>(program_start(arguments));
    std::vector<std::string> program(start, arguments.end());
    arguments.erase(start, arguments.end());
    if (!program.empty() && program.front() == "--") program.erase(program.begin());
    return program;
}

/// The command that a failed parse was about, for the hint: "coroscope table".
std::string command_of(const CLI::App& root) {
    const auto named = root.get_subcommands();
    return named.empty() ? "coroscope" : "coroscope " + named.front()->get_name();
}

int usage_error(const CLI::App& root, std::string_view message) {
    report(std::string(message) + "; see " + command_of(root) + " --help");
    return exit_usage;
}

int run_command(std::vector<std::string> arguments) {
    CLI::App root(
        "Reads traces of C++ coroutines, tasks and threads, and says where the time went.",
        "coroscope");
    root.footer("Example:\n  coroscope run -o trace.cst -- ./service --port 8080\n  coroscope "
                "table trace.cst\n\n"
                "coroscope COMMAND --help tells a command's options.");
    root.set_version_flag("--version", COROSCOPE_VERSION);
    root.require_subcommand(1);
    command_line line;
    line.program = split_program(arguments);
    for (const auto add : {add_run, add_table, add_awaits, add_tasks, add_streams, add_ranges,
                           add_info, add_export, add_pack})
        add(root, line);
    try {
        std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
        root.parse(arguments);
    } catch (const CLI::Success& asked) {
        if (dynamic_cast<const CLI::CallForVersion*>(&asked) != nullptr)
            return print(std::string(asked.what()) + '\n');
        return print(root.help("", dynamic_cast<const CLI::CallForAllHelp*>(&asked) != nullptr
                                       ? CLI::AppFormatMode::All
                                       : CLI::AppFormatMode::Normal));
    } catch (const CLI::ParseError& wrong) {
        return usage_error(root, wrong.what());
    }
    return line.chosen();
}

}  // namespace

int main(int count, char** arguments) {
    // A reader that left is not an error: write() then says so, and we end.
    ignore_broken_pipes();
    try {
        return run_command({arguments + 1, arguments + count});
    } catch (const std::exception& unexpected) {
        report(unexpected.what());
        return exit_failure;
    }
}
