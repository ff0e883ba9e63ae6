// SPDX-License-Identifier: Apache-2.0

// A library whose place in the source is unloaded before the trace is finished.

#include <coroscope/coroscope.hpp>

extern "C" __attribute__((visibility("default"))) void run_scope_in_library() {
    COROSCOPE("in a library");
}
