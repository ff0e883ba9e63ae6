// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "child_process.hpp"
#include "data_command.hpp"
#include "old_trace.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

constexpr const char* trace_variable = "COROSCOPE_TRACE";

struct run_command {
    std::string output = "coroscope.cst";
    std::string policy;
    std::uint64_t limit = 0;  ///< bytes; 0: the runtime's own
    std::vector<std::string> features;
    bool no_summary = false;
    std::vector<std::string> program;
};

/// The program may change its folder before it records.
std::string absolute(const std::string& path) {
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::absolute(path, failed);
    return failed ? path : whole.string();
}

/// What the program is told; lib/runtime/environment.cpp reads it.
std::vector<std::string> recording(const run_command& asked) {
    std::vector<std::string> told{std::string(trace_variable) + "=" + absolute(asked.output)};
    if (!asked.policy.empty()) told.push_back("COROSCOPE_POLICY=" + asked.policy);
    if (asked.limit != 0) told.push_back("COROSCOPE_LIMIT=" + std::to_string(asked.limit));
    for (std::string name : asked.features) {
        if (name == "cuda") {
            told.push_back("COROSCOPE_DEVICE=cuda");
            continue;
        }
        std::transform(name.begin(), name.end(), name.begin(),
                       [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
        told.push_back("COROSCOPE_" + name + "=1");
    }
    return told;
}

/// The exit codes that shells and env(1) give for a program that could not be run.
int start_failure(const std::string& program, int error) {
    report(program, {std::generic_category().message(error)});
    return error == ENOENT ? 127 : 126;
}

int unknown_end(const std::string& program, int error) {
    report(program, {"how it ended is unknown: " + std::generic_category().message(error)});
    return exit_failure;
}

void print_summary(const std::string& path) {
    struct stat what{};
    if (::stat(path.c_str(), &what) != 0) {
        report(path, {"no trace appeared: the program is not linked with Coroscope, or recording "
                      "never started"});
        return;
    }
    const auto loaded = load_trace(path);
    if (loaded)
        print_text(analysis::summary(*loaded, {}, path) + "trace: " + one_line(path) + "\n");
}

int run_program(const run_command& asked) {
    if (asked.program.empty())
        return usage_failure("run", "a program to run is missing; see coroscope run --help");
    const program_place program = find_program(asked.program.front());
    if (program.error != 0) return start_failure(asked.program.front(), program.error);
    const std::string obstacle = make_way(asked.output, program.path);
    std::vector<std::string> environment;
    if (obstacle.empty()) {
        environment = recording(asked);
    } else {
        ::unsetenv(trace_variable);
        report(asked.output, {obstacle + "; the program runs without being recorded"});
    }
    // Of a recorded process that we run in: our program is to write to the file that we name.
    ::unsetenv("COROSCOPE_TRACE_OWNER");
    const child_result ended = run_child(asked.program, environment);
    if (ended.start_error != 0) return start_failure(asked.program.front(), ended.start_error);
    if (ended.wait_error != 0) return unknown_end(asked.program.front(), ended.wait_error);
    if (obstacle.empty() && !asked.no_summary) print_summary(asked.output);
    return ended.exit_code;
}

/// Runs before a size is read, which takes "-5" for 2^64 less 5.
std::string without_sign(std::string& size) {
    return size.starts_with('-') ? "a size is not negative: " + size : std::string();
}

}  // namespace

void add_run(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<run_command>();
    CLI::App* command = root.add_subcommand("run", "Record a program and say where its time went");
    command->add_option("-o,--output", asked->output, "The trace to write")
        ->type_name("PATH")
        ->capture_default_str();
    command
        ->add_option("--record", asked->features,
                     "What to record beside scopes and tasks, separated by commas")
        ->type_name("WHAT,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(
            CLI::IsMember({"arguments", "shapes", "flops", "memory", "stacks", "modules", "cuda"}));
    command
        ->add_option("--policy", asked->policy,
                     "What to do where the trace may not grow: lose what is new or what is old, or "
                     "let the program wait")
        ->check(CLI::IsMember({"drop", "overwrite", "wait"}));
    command->add_option("--limit", asked->limit, "How large the trace may grow: 256MiB, 1GiB")
        ->transform(CLI::AsSizeValue(false))
        ->transform(CLI::Validator(without_sign, ""));
    command->add_flag("--no-summary", asked->no_summary,
                      "Print nothing behind what the program prints");
    command->footer(
        "PROGRAM [ARGUMENT...] stands behind the options, best after --. The command exits as "
        "the program\n"
        "does; with 127 or 126 where it could not be started, 128 + N where signal N ended it.\n\n"
        "Example:\n  coroscope run -o trace.cst -- ./service --port 8080");
    command->callback([asked, &line] {
        line.chosen = [asked, &line] {
            asked->program = line.program;
            return run_program(*asked);
        };
    });
}

}  // namespace coroscope::tools
