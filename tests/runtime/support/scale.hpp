// SPDX-License-Identifier: Apache-2.0
#pragma once

// The amount of work of a test: seconds by default, and the amount of a long life under ./dev test
// --soak.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <malloc.h>
#include <unistd.h>

namespace coroscope::test {

template <class Count>
Count sized(Count quick, Count soaking) {
    return std::getenv("COROSCOPE_SOAK") != nullptr ? soaking : quick;
}

/// Returns whether memcheck runs this program. Memcheck's own memory counts as memory of the
/// process.
inline bool under_valgrind() {
    const char* preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr;
}

/// The resident memory of the process, without the freed memory that the allocator keeps: its
/// amount depends on earlier allocations.
inline std::uint64_t resident_bytes() {
#if defined(__GLIBC__)
    ::malloc_trim(0);
#endif
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// The growth of the resident memory; 0 if the system has taken memory away meanwhile.
inline std::uint64_t resident_growth(std::uint64_t before) {
    const std::uint64_t now = resident_bytes();
    return now > before ? now - before : 0;
}

}  // namespace coroscope::test
