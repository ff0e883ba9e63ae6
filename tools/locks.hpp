// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `locks`: the waits for locks of the C library.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_locks(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
