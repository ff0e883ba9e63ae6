// SPDX-License-Identifier: Apache-2.0

// Names the fake CUPTI as the one to open, before any session starts. Also uses the library that
// opens it, so that a linker does not leave the library out.

#include <cstdlib>

#include <coroscope/integration/cuda.hpp>

namespace {

[[gnu::constructor]] void name_fake_cupti() {
    ::setenv("COROSCOPE_CUPTI", FAKE_CUPTI, 1);
    if (!coroscope::cuda::available()) ::abort();
}

}  // namespace
