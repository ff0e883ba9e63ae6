// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's own allocations bypass operator new. A program that replaces operator new, to
// report allocations, neither sees the recorder's memory nor is called while the recorder holds a
// lock.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace coroscope::runtime::inline base {

/// Base of classes whose objects, and arrays, the runtime allocates.
struct own_memory {
    static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
        return std::malloc(bytes);
    }
    static void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
        return std::malloc(bytes);
    }
    // Always inlined, because g++ warns of a mismatch if it inlines only the delete.
    [[gnu::always_inline]] static void* operator new(std::size_t bytes, std::align_val_t alignment,
                                                     const std::nothrow_t&) noexcept {
        void* block = nullptr;
        const int error = ::posix_memalign(&block, static_cast<std::size_t>(alignment), bytes);
        return error == 0 ? block : nullptr;
    }
    static void* operator new(std::size_t, void* place) noexcept { return place; }
    static void operator delete(void* block) noexcept { std::free(block); }
    static void operator delete[](void* block) noexcept { std::free(block); }
    static void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
    static void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
        std::free(block);
    }
    static void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
    static void operator delete[](void* block, const std::nothrow_t&) noexcept { std::free(block); }
};

}  // namespace coroscope::runtime::inline base
