// SPDX-License-Identifier: Apache-2.0

// A session without a name, which ends at once. With OFFENCE the compiler warns.

#include <coroscope/profile.hpp>

int main() {
#if defined(OFFENCE)
    coroscope::profile{{.output = "trace.cst"}};
#else
    const coroscope::profile session{{.output = "trace.cst"}};
#endif
}
