// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `export`: writes the trace for another program.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_export(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
