// SPDX-License-Identifier: Apache-2.0
#pragma once

// The registry of subcommands: each has a file of its own, which adds its options to the command
// line and says what to do when it was chosen.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace coroscope::tools {

// Exit codes of the coroscope command; `run` passes on its program's instead.
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

/// What main works with while it reads the command line.
struct command_line {
    std::function<int()> chosen{};  ///< set by the subcommand that was named; gives the exit code
    std::vector<std::string> program{};  ///< of `run`: what stands behind its own options
};

/// What `run` has its values behind, and not after a '='. Behind them all stands the program.
inline constexpr std::string_view run_options_with_values[] = {"-o", "--output", "--record",
                                                               "--policy", "--limit"};

void add_run(CLI::App& root, command_line& line);
void add_table(CLI::App& root, command_line& line);
void add_awaits(CLI::App& root, command_line& line);
void add_tasks(CLI::App& root, command_line& line);
void add_ranges(CLI::App& root, command_line& line);
void add_streams(CLI::App& root, command_line& line);
void add_info(CLI::App& root, command_line& line);
void add_export(CLI::App& root, command_line& line);
void add_pack(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
