// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds commands and options that do not exist, and the one that was probably meant. It uses
// CLI11's description of the command line, so that a new command or option needs no change here.

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace coroscope::tools {

/// The name that is nearest to `given`; empty if none is near.
[[nodiscard]] std::string nearest_name(std::string_view given,
                                       const std::vector<std::string>& names);

/// The error for the first unknown command or option, with the one that was probably meant; empty
/// if all are known.
[[nodiscard]] std::string check_spelling(const CLI::App& root,
                                         const std::vector<std::string>& arguments);

}  // namespace coroscope::tools
