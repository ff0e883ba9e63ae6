// SPDX-License-Identifier: Apache-2.0
#pragma once

// The facts of a program's file that decide whether a library can be preloaded into it.

#include <string>

namespace coroscope::tools {

/// Returns the reason why the loader would not preload a library of ours into the program at `path`
/// ("it is statically linked"), or an empty string. Returns an empty string for a script or a file
/// that cannot be read.
[[nodiscard]] std::string preload_obstacle(const std::string& path);

}  // namespace coroscope::tools
