// SPDX-License-Identifier: Apache-2.0

// Prints the contents of a trace, for tests that have a file and expect lines.

#include <cstdio>

#include <coroscope/analysis/load.hpp>

#include "describe.hpp"

int main(int count, char** words) {
    if (count != 2) return 2;
    const auto loaded = coroscope::analysis::load(words[1]);
    if (!loaded) {
        std::fprintf(stderr, "%s: %s\n", words[1], loaded.error().message.c_str());
        return 1;
    }
    std::fputs(coroscope::test::describe(*loaded).c_str(), stdout);
    return 0;
}
