// SPDX-License-Identifier: Apache-2.0

// A library with a place in the source that is gone when the trace is written to its end.

#include <coroscope/coroscope.hpp>

extern "C" __attribute__((visibility("default"))) void run_scope_in_library() {
    COROSCOPE("in a library");
}
