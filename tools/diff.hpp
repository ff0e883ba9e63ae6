// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `diff`: what became slower between the runs of two builds.

#include <string>
#include <vector>

#include "subcommand.hpp"

namespace coroscope::tools {

void add_diff(CLI::App& root, command_line& line);

/// Replaces the "--" between the two sides of `diff` by the option of the second side, because "--"
/// would end the options for CLI11. Returns an error message, or an empty string.
std::string name_second_side(std::vector<std::string>& arguments);

}  // namespace coroscope::tools
