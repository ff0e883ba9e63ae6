// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much a test does: seconds of it by default, and under ./dev test --soak what a long life has.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <unistd.h>

namespace coroscope::test {

template <class Count>
Count sized(Count quick, Count soaking) {
    return std::getenv("COROSCOPE_SOAK") != nullptr ? soaking : quick;
}

/// Is memcheck watching, whose own memory is the process's?
inline bool under_valgrind() {
    const char* preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr;
}

/// What of the process is in memory.
inline std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace coroscope::test
