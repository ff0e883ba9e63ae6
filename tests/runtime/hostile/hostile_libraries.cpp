// SPDX-License-Identifier: Apache-2.0

// Modes of hostile_program: libraries that are opened while it runs.

#include <dlfcn.h>

#include "../support/session_steps.hpp"
#include "hostile_modes.hpp"

namespace coroscope::test {

namespace {

// Runs the scope in an opened library. Returns 0 if the scope ran, else the number of the failed
// step.
int run_scope_in(void* library) {
    if (library == nullptr) return 1;
    void* function = ::dlsym(library, "run_scope_in_library");
    if (function == nullptr) return 2;
    reinterpret_cast<void (*)()>(function)();
    return 0;
}

}  // namespace

// load LIBRARY: runs the library's scope, and three steps
int load_library(arguments given) {
    const int failed = run_scope_in(::dlopen(given[0], RTLD_NOW | RTLD_LOCAL));
    if (failed == 0) steps(3);
    return failed;
}

// namespace LIBRARY: the same twice, with the library and copies of all its dependencies in a new
// namespace of the loader
int load_in_namespaces(arguments given) {
    for (int i = 0; i < 2; ++i) {
        const int failed = run_scope_in(::dlmopen(LM_ID_NEWLM, given[0], RTLD_NOW | RTLD_LOCAL));
        if (failed != 0) return failed;
    }
    steps(3);
    return 0;
}

// session FILE LIBRARY: a session in the code, after the library was loaded
int record_beside_library(arguments given) {
    if (load_library(given + 1) != 0) return 1;
    profile session{{.output = given[0]}};
    steps(5);
    print(session.status());
    return 0;
}

}  // namespace coroscope::test
