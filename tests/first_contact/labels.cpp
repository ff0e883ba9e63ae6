// SPDX-License-Identifier: Apache-2.0

// A label that is not a literal. With OFFENCE it is refused.

#include <coroscope/coroscope.hpp>

void work(const char* name) {
#if defined(OFFENCE)
    COROSCOPE(name);
#else
    const coroscope::record_function range(name);
#endif
}
