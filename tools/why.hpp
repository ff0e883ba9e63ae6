// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `why`: the differences between slow requests and median ones.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_why(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
