// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "subcommand.hpp"

namespace coroscope::tools {

/// `coroscope completion SHELL` and `coroscope manual`.
void add_completion(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
