// SPDX-License-Identifier: Apache-2.0
#include "doctor.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "child_process.hpp"
#include "data_command.hpp"
#include "doctor/judge_machine.hpp"
#include "doctor/judge_program.hpp"
#include "doctor/list_facts.hpp"
#include "doctor/read_machine.hpp"
#include "doctor/read_program.hpp"
#include "output.hpp"

namespace coroscope::tools {
namespace {

bool is_folder(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Finds the program as `run` does, but also reads a file that may not be executed.
analysis::result<program_readings> find_and_read(const std::string& name) {
    if (is_folder(name)) return analysis::failure{"is a directory"};
    const program_place place = find_program(name);
    if (place.error != 0 && place.error != EACCES)
        return analysis::failure{std::generic_category().message(place.error)};
    return read_program(place.error == 0 ? place.path : name);
}

/// Returns an error message, or an empty string.
std::string no_program(std::string& name) {
    return name.empty() ? "the name of the program is empty" : std::string();
}

int run_doctor(const data_options& asked) {
    facts found;
    if (!asked.file.empty()) {
        const auto program = find_and_read(asked.file);
        if (!program) {
            report(asked.file, program.error());
            return exit_failure;
        }
        found = judge_program(*program);
    }
    facts machine = judge_machine(read_machine(""));
    machine.insert(machine.end(), std::make_move_iterator(found.begin()),
                   std::make_move_iterator(found.end()));
    const int printed = print_listing(list_facts(machine), asked, {});
    return printed == exit_success && lacks_essential(machine) ? exit_failure : printed;
}

}  // namespace

void add_doctor(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<data_options>();
    CLI::App* command = root.add_subcommand(
        "doctor", "The facts that can be recorded on this machine, and what to change for others");
    command->add_option("PROGRAM", asked->file, "Also check this program")
        ->type_name("")
        ->check(CLI::Validator(no_program, ""));
    add_format_options(*command, *asked);
    command->footer("Example:\n  coroscope doctor ./service");
    command->callback([asked, &line] { line.chosen = [asked] { return run_doctor(*asked); }; });
}

}  // namespace coroscope::tools
