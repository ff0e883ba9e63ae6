// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calls that reached nvtx_injection.cpp, the tool of these tests.

#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <coroscope/integration/nvtx.hpp>

#include "observing.hpp"

namespace coroscope::test {

// NVTX reads the variable at the first call of the process.
inline const bool nvtx_tool_is_named = ::setenv("NVTX_INJECTION64_PATH", NVTX_INJECTION, 1) == 0;

/// Returns the calls since the last time. Later calls are written down with or without categories,
/// colours and payloads.
inline lines nvtx_calls(bool with_attributes_from_now = false) {
    using take_calls = void (*)(lines&, bool);
    static void* const tool = ::dlopen(NVTX_INJECTION, RTLD_NOW);
    REQUIRE(nvtx_tool_is_named);
    REQUIRE(tool != nullptr);
    lines found;
    reinterpret_cast<take_calls>(::dlsym(tool, "take_nvtx_calls"))(found, with_attributes_from_now);
    return found;
}

/// Makes the domain, which is made once in the process.
inline void make_nvtx_domain() {
    const emit_nvtx emit;
    {
        COROSCOPE("first");
    }
    nvtx_calls();
}

}  // namespace coroscope::test
