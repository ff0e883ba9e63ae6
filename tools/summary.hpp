// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "subcommand.hpp"

namespace coroscope::tools {

/// `coroscope summary`, and `coroscope FILE`: what `coroscope run` prints at its end.
void add_summary(CLI::App& root, command_line& line);

/// Inserts the word "summary" if the first argument is a file and no command.
void complete_summary(const CLI::App& root, std::vector<std::string>& arguments);

}  // namespace coroscope::tools
