// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `requests`: the percentiles of requests, the parts of their time and the slowest
// ones, or one request.

#include "subcommand.hpp"

namespace coroscope::tools {

void add_requests(CLI::App& root, command_line& line);

}  // namespace coroscope::tools
