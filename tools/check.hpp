// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `check`: named causes of lost request time.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_check(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
