// SPDX-License-Identifier: Apache-2.0
#pragma once

// The commands that lead on from a view.

#include <string>
#include <string_view>

namespace coroscope::tools {

/// Returns the line "Next: ..." for the view of a command; empty if the command has none.
[[nodiscard]] std::string next_commands(std::string_view command, std::string_view file);

}  // namespace coroscope::tools
