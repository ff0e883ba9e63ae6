// SPDX-License-Identifier: Apache-2.0

// Modes of hostile_program: libraries that are opened while it runs.

#include <dlfcn.h>

#include "hostile_modes.hpp"
#include "session_steps.hpp"

namespace coroscope::test {

namespace {

// What there is to say of a library that was opened: 0 when its scope has run.
int run_scope_in(void* library) {
    if (library == nullptr) return 1;
    void* function = ::dlsym(library, "run_scope_in_library");
    if (function == nullptr) return 2;
    reinterpret_cast<void (*)()>(function)();
    return 0;
}

}  // namespace

// load LIBRARY: runs its scope, and three of our own
int load_library(arguments given) {
    const int failed = run_scope_in(::dlopen(given[0], RTLD_NOW | RTLD_LOCAL));
    if (failed == 0) steps(3);
    return failed;
}

// namespace LIBRARY: the same where the loader gives the library copies of all that it needs, twice
int load_in_namespaces(arguments given) {
    for (int i = 0; i < 2; ++i) {
        const int failed = run_scope_in(::dlmopen(LM_ID_NEWLM, given[0], RTLD_NOW | RTLD_LOCAL));
        if (failed != 0) return failed;
    }
    steps(3);
    return 0;
}

// session FILE LIBRARY: one in the code, after the library was loaded
int record_beside_library(arguments given) {
    if (load_library(given + 1) != 0) return 1;
    profile session{{.output = given[0]}};
    steps(5);
    print(session.status());
    return 0;
}

}  // namespace coroscope::test
