// SPDX-License-Identifier: Apache-2.0
#pragma once

// The subcommands' common ground. A subcommand NAME has a unit of its own, NAME.hpp and NAME.cpp,
// with a function add_NAME(). That adds the options to the command line, and a callback that sets
// `chosen`.

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

/// The state of main while it reads the command line.
struct command_line {
    std::function<int()> chosen{};  ///< set by the subcommand that was named; gives the exit code
    std::vector<std::string> program{};  ///< of `run`: the words behind its own options
};

}  // namespace coroscope::tools
