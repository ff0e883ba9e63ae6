// SPDX-License-Identifier: Apache-2.0

// Prints each row of bench/frame_rows.cpp, which is compiled into this program: a name and a number
// of bytes.

#include <cstdio>

#include "once.hpp"

int main() {
    for (const bench::once_row& row : bench::frame_rows())
        std::printf("%s %g\n", row.name, row.measure().value);
}
