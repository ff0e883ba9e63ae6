// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `table`: the time of scopes, by name.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_table(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
