// SPDX-License-Identifier: Apache-2.0

// The tests' own CUPTI is the one that is opened: said before any session starts. And the library that opens it is
// used, so that a linker does not leave it out.

#include <cstdlib>

#include <coroscope/integration/cuda.hpp>

namespace {

[[gnu::constructor]] void name_fake_cupti() {
    ::setenv("COROSCOPE_CUPTI", FAKE_CUPTI, 1);
    if (!coroscope::cuda::available()) ::abort();
}

}  // namespace
