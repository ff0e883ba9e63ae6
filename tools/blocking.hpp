// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `blocking`: the calls of the C library that blocked their thread.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_blocking(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
