// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `info`: the contents of a trace, and its losses.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_info(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
