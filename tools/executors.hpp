// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `executors`: the threads and the queues of executors.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_executors(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
