// SPDX-License-Identifier: Apache-2.0
#pragma once

// Known sequences of scopes, to which a trace is compared.

#include <cstdint>

#include <coroscope/coroscope.hpp>

namespace coroscope::test {

/// Step `number` of a thread's sequence: one scope, whose label has the number's place in a cycle
/// of five.
inline void step(std::uint64_t number) {
    switch (number % 5) {
        case 0: {
            COROSCOPE("step 0");
            break;
        }
        case 1: {
            COROSCOPE("step 1");
            break;
        }
        case 2: {
            COROSCOPE("step 2");
            break;
        }
        case 3: {
            COROSCOPE("step 3");
            break;
        }
        default: {
            COROSCOPE("step 4");
            break;
        }
    }
}

inline void steps(std::uint64_t count) {
    for (std::uint64_t number = 0; number < count; ++number) step(number);
}

}  // namespace coroscope::test
