// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks a doctest case that cannot run on this machine: COROSCOPE_SKIP("not root"); return;
// The reason is a message, which scripts/run_tests.py counts, and a line of the file that the
// environment variable COROSCOPE_TEST_SKIPS names.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

namespace coroscope::test {

inline void note_skip(const std::string& reason) {
    const char* path = std::getenv("COROSCOPE_TEST_SKIPS");
    if (path == nullptr) return;
    if (std::FILE* file = std::fopen(path, "a")) {
        std::fprintf(file, "SKIP: %s\n", reason.c_str());
        std::fclose(file);
    }
}

}  // namespace coroscope::test

#define COROSCOPE_SKIP(reason)                                                                     \
    do {                                                                                           \
        const std::string why = (reason);                                                          \
        MESSAGE("SKIP: " << why);                                                                  \
        ::coroscope::test::note_skip(why);                                                         \
    } while (false)
