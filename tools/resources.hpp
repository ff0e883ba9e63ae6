// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `resources`: the waits for mutexes, semaphores, pools and channels.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_resources(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
