// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>

namespace coroscope::test {

/// Does valgrind run this program? It loads a library of its own into whatever it runs.
inline bool under_memcheck() {
    const char* preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr &&
           std::string_view(preloaded).find("vgpreload") != std::string_view::npos;
}

}  // namespace coroscope::test
