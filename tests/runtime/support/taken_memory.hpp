// SPDX-License-Identifier: Apache-2.0
#pragma once

// For programs that run out of memory.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace coroscope::test {

/// Bytes of address space that the process has now.
inline std::size_t address_space() {
    std::size_t pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// The result is volatile: clang removes an unused allocation, and assumes that it succeeds.
inline bool take_memory(std::size_t bytes) {
    static void* volatile taken;
    taken = std::malloc(bytes);
    return taken != nullptr;
}

}  // namespace coroscope::test
