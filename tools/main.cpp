// SPDX-License-Identifier: Apache-2.0

// The coroscope command: records programs and reads traces.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "awaits.hpp"
#include "blocking.hpp"
#include "check.hpp"
#include "child_process.hpp"
#include "completion.hpp"
#include "cut.hpp"
#include "diff.hpp"
#include "doctor.hpp"
#include "executors.hpp"
#include "export.hpp"
#include "info.hpp"
#include "locks.hpp"
#include "output.hpp"
#include "pack.hpp"
#include "path.hpp"
#include "ranges.hpp"
#include "report.hpp"
#include "requests.hpp"
#include "resources.hpp"
#include "run.hpp"
#include "spelling.hpp"
#include "streams.hpp"
#include "summary.hpp"
#include "table.hpp"
#include "tasks.hpp"
#include "values.hpp"
#include "why.hpp"

namespace {

using namespace coroscope::tools;

/// Returns whether the argument names an option of `run` whose value is the next argument.
bool takes_next(const CLI::App& run, const std::string& argument) {
    if (!argument.starts_with('-')) return false;
    const CLI::Option* named = run.get_option_no_throw(argument);
    return named != nullptr && named->get_items_expected_max() > 0;
}

/// Returns the position of the program in the arguments of `run`, the first of which is "run". The
/// program comes after "--", or is the first argument that is not an option of `run`. The program's
/// own options must not be read as options of `run`.
std::size_t program_start(const CLI::App& run, const std::vector<std::string>& arguments) {
    for (std::size_t at = 1; at < arguments.size(); ++at) {
        if (takes_next(run, arguments[at])) {
            ++at;
        } else if (!arguments[at].starts_with('-') || arguments[at] == "--") {
            return at;
        }
    }
    return arguments.size();
}

/// Removes the program of `run` and its arguments from `arguments`, and returns them.
std::vector<std::string> split_program(const CLI::App& root, std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front() != "run") return {};
    const std::size_t at = program_start(*root.get_subcommand("run"), arguments);
    const auto start = arguments.begin() + static_cast<std::ptrdiff_t>(at);
    std::vector<std::string> program(start, arguments.end());
    arguments.erase(start, arguments.end());
    if (!program.empty() && program.front() == "--") program.erase(program.begin());
    return program;
}

/// Returns the command that the hint after a wrong command line names, such as "coroscope table".
std::string command_of(const CLI::App& root, const std::string& first) {
    const auto named =
        root.get_subcommands([&](const CLI::App* each) { return each->get_name() == first; });
    return named.empty() ? "coroscope" : "coroscope " + first;
}

int usage_error(const CLI::App& root, const std::string& first, std::string_view message) {
    report(std::string(message) + "; see " + command_of(root, first) + " --help");
    return exit_usage;
}

int run_command(std::vector<std::string> arguments) {
    CLI::App root("Records C++ programs, and shows from their traces how coroutines, tasks and "
                  "threads spent their time.",
                  "coroscope");
    root.footer("Example:\n  coroscope run -o trace.cst -- ./service --port 8080\n  coroscope "
                "trace.cst\n  coroscope table trace.cst\n\n"
                "Run coroscope COMMAND --help for the options of a command.");
    root.set_version_flag("--version", COROSCOPE_VERSION);
    root.require_subcommand(1);
    command_line line;
    for (const auto add :
         {add_run,      add_summary,   add_report,    add_table, add_awaits, add_tasks,
          add_requests, add_path,      add_why,       add_check, add_diff,   add_values,
          add_streams,  add_resources, add_executors, add_locks, add_ranges, add_blocking,
          add_info,     add_export,    add_cut,       add_pack,  add_doctor, add_completion})
        add(root, line);
    complete_summary(root, arguments);
    line.program = split_program(root, arguments);
    const std::string first = arguments.empty() ? std::string() : arguments.front();
    if (const std::string wrong = name_second_side(arguments); !wrong.empty())
        return usage_error(root, first, wrong);
    if (const std::string wrong = check_spelling(root, arguments); !wrong.empty())
        return usage_error(root, first, wrong);
    try {
        std::reverse(arguments.begin(), arguments.end());  // CLI11 reads them from the back
        root.parse(arguments);
    } catch (const CLI::Success& asked) {
        if (dynamic_cast<const CLI::CallForVersion*>(&asked) != nullptr)
            return print(std::string(asked.what()) + '\n');
        return print(root.help("", dynamic_cast<const CLI::CallForAllHelp*>(&asked) != nullptr
                                       ? CLI::AppFormatMode::All
                                       : CLI::AppFormatMode::Normal));
    } catch (const CLI::ParseError& wrong) {
        return usage_error(root, first, wrong.what());
    }
    return line.chosen();
}

}  // namespace

int main(int count, char** arguments) {
    // It is not an error if the reader of a pipe has left: write() then fails, and the command
    // ends.
    ignore_broken_pipes();
    try {
        return run_command({arguments + 1, arguments + count});
    } catch (const std::exception& unexpected) {
        report(unexpected.what());
        return exit_failure;
    }
}
