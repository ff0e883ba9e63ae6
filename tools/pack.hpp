// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `pack`: writes the same trace in a fraction of the bytes.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_pack(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
