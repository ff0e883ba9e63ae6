// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `streams`: the delays of item streams.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_streams(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
