// SPDX-License-Identifier: Apache-2.0

// The label of a scope macro is a literal; record_function takes any text.
#include <coroscope/coroscope.hpp>

int main(int, char** arguments) {
    const char* label = arguments[0];
#if defined(OFFENCE)
    COROSCOPE(label);
#else
    const coroscope::record_function range(label);
#endif
}
