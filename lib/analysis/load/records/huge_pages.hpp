// SPDX-License-Identifier: Apache-2.0
#pragma once

// Touching gigabytes page by page costs more than filling them; large arrays ask for larger pages.

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

namespace coroscope::analysis::inline records {

/// Asks for huge pages for `bytes` bytes at `memory`, which need not be touched yet. A hint:
/// nothing changes if the system has none.
inline void prefer_huge_pages(void* memory, std::size_t bytes) {
    constexpr std::uintptr_t huge = std::uintptr_t{1} << 21;
    const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + huge - 1) & ~(huge - 1);
    const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(huge - 1);
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace coroscope::analysis::inline records
