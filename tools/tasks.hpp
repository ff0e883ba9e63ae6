// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `tasks`: the tasks, by spawn site.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_tasks(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
