// SPDX-License-Identifier: Apache-2.0

// The tests' own CUPTI is the one that is opened: said before any session starts.

#include <cstdlib>

namespace {

[[gnu::constructor]] void name_fake_cupti() { ::setenv("COROSCOPE_CUPTI", FAKE_CUPTI, 1); }

}  // namespace
