// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calls that nvtx_injection.cpp, the tests' tool, was told of.

#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <coroscope/integration/nvtx.hpp>

#include "observing.hpp"

namespace coroscope::test {

// NVTX reads the variable at the first call of the process.
inline const bool nvtx_tool_is_named = ::setenv("NVTX_INJECTION64_PATH", NVTX_INJECTION, 1) == 0;

/// Those since the last time; from now on with or without categories, colours and payloads.
inline lines nvtx_calls(bool with_attributes_from_now = false) {
    using take_calls = void (*)(lines&, bool);
    static void* const tool = ::dlopen(NVTX_INJECTION, RTLD_NOW);
    REQUIRE(nvtx_tool_is_named);
    REQUIRE(tool != nullptr);
    lines found;
    reinterpret_cast<take_calls>(::dlsym(tool, "take_nvtx_calls"))(found, with_attributes_from_now);
    return found;
}

/// The domain is made once in the process.
inline void make_nvtx_domain() {
    const emit_nvtx emit;
    {
        COROSCOPE("first");
    }
    nvtx_calls();
}

}  // namespace coroscope::test
