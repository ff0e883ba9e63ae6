// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `run`: records a program, and prints a summary of its time.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_run(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
