// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `doctor`: the facts that can be recorded on this machine, and of a program.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_doctor(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
