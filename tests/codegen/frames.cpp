// SPDX-License-Identifier: Apache-2.0

// Prints the rows of bench/frame_rows.cpp, with which it is compiled: a name and the bytes.

#include <cstdio>

#include "once.hpp"

int main() {
    for (const bench::once_row& row : bench::frame_rows())
        std::printf("%s %g\n", row.name, row.measure().value);
}
