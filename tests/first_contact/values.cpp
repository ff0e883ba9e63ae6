// SPDX-License-Identifier: Apache-2.0

// The same as labels.cpp, of a value.

#include <coroscope/coroscope.hpp>

void work(const char* name) {
#if defined(OFFENCE)
    COROSCOPE_VALUE(name, 1);
#else
    COROSCOPE_VALUE("name", 1);
    static_cast<void>(name);
#endif
}
