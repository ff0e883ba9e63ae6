// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `awaits`: the waits of tasks, by await site.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_awaits(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
