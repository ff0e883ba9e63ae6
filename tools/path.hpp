// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `path`: the critical path of a request or a task.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_path(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
