// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `values`: the numbers that the program recorded.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_values(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
