// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>

namespace coroscope::test {

/// Returns whether valgrind runs this program. Valgrind loads a library of its own into the
/// program.
inline bool under_memcheck() {
    const char* preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr &&
           std::string_view(preloaded).find("vgpreload") != std::string_view::npos;
}

}  // namespace coroscope::test
