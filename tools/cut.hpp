// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "subcommand.hpp"

namespace coroscope::tools {

void add_cut(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
