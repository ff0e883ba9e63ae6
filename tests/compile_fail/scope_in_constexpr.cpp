// SPDX-License-Identifier: Apache-2.0

// A scope needs a static variable, which C++20 allows in no constexpr function.
#include <coroscope/macro.hpp>

#if defined(OFFENCE)
constexpr
#endif
    int
    twice(int value) {
    COROSCOPE("twice");
    return 2 * value;
}

int main() { return twice(0); }
