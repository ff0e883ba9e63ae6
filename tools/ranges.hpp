// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `ranges`: the ranges that ended with a stream of a device.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_ranges(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
