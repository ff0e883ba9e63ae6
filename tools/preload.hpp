// SPDX-License-Identifier: Apache-2.0
#pragma once

// The library that `run` preloads to record the program's calls of the C library.

#include <string>
#include <vector>

namespace coroscope::tools {

struct preloading {
    std::vector<std::string> environment;  ///< "NAME=value"; empty if nothing can be preloaded
    std::string obstacle;                  ///< the reason; empty if the library is preloaded
};

/// Returns the environment that preloads the library into the program at `path`. Libraries that the
/// user preloads are kept, after ours.
[[nodiscard]] preloading preload_into(const std::string& path);

}  // namespace coroscope::tools
