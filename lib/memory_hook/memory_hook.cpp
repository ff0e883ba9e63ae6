// SPDX-License-Identifier: Apache-2.0

// operator new and delete, replaced for the whole program by functions that report. A program must
// only link this library.
//
// Blocks come from malloc. Their size is the usable size that malloc reports, both at the
// allocation and at the release, because a release need not name the size. Totals count from the
// program's start.

#include <malloc.h>

#include <cstdlib>
#include <new>

#include <coroscope/memory.hpp>

namespace {

constinit std::int64_t allocated_bytes = 0;

coroscope::memory_totals add(std::int64_t bytes) noexcept {
    const std::int64_t total = __atomic_add_fetch(&allocated_bytes, bytes, __ATOMIC_RELAXED);
    return {total, total};
}

void* take(std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes == 0) bytes = 1;  // each block has an address of its own
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
    void* block = nullptr;
    return ::posix_memalign(&block, alignment, bytes) == 0 ? block : nullptr;
}

// Returns null if memory is short and no handler is installed that could free some.
void* take_or_ask(std::size_t bytes, std::size_t alignment) {
    for (;;) {
        if (void* block = take(bytes, alignment)) return block;
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) return nullptr;
        handler();
    }
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    void* block = take_or_ask(bytes, alignment);
    if (block == nullptr) {
        coroscope::report_out_of_memory(bytes, add(0));
        throw std::bad_alloc();
    }
    const std::size_t size = ::malloc_usable_size(block);
    coroscope::report_allocation(block, size, add(static_cast<std::int64_t>(size)));
    return block;
}

void* allocate_or_null(std::size_t bytes, std::size_t alignment) noexcept {
    try {
        return allocate(bytes, alignment);
    } catch (...) {
        return nullptr;
    }
}

void release(void* block) noexcept {
    if (block == nullptr) return;
    const std::size_t size = ::malloc_usable_size(block);
    coroscope::report_release(block, size, add(-static_cast<std::int64_t>(size)));
    std::free(block);
}

constexpr std::size_t usual = alignof(std::max_align_t);

std::size_t number(std::align_val_t alignment) noexcept {
    return static_cast<std::size_t>(alignment);
}

}  // namespace

#define COROSCOPE_HOOK __attribute__((visibility("default")))

COROSCOPE_HOOK void* operator new(std::size_t bytes) { return allocate(bytes, usual); }
COROSCOPE_HOOK void* operator new[](std::size_t bytes) { return allocate(bytes, usual); }
COROSCOPE_HOOK void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, number(alignment));
}
COROSCOPE_HOOK void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, number(alignment));
}
COROSCOPE_HOOK void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate_or_null(bytes, usual);
}
COROSCOPE_HOOK void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate_or_null(bytes, usual);
}
COROSCOPE_HOOK void* operator new(std::size_t bytes, std::align_val_t alignment,
                                  const std::nothrow_t&) noexcept {
    return allocate_or_null(bytes, number(alignment));
}
COROSCOPE_HOOK void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                    const std::nothrow_t&) noexcept {
    return allocate_or_null(bytes, number(alignment));
}

COROSCOPE_HOOK void operator delete(void* block) noexcept { release(block); }
COROSCOPE_HOOK void operator delete[](void* block) noexcept { release(block); }
COROSCOPE_HOOK void operator delete(void* block, std::size_t) noexcept { release(block); }
COROSCOPE_HOOK void operator delete[](void* block, std::size_t) noexcept { release(block); }
COROSCOPE_HOOK void operator delete(void* block, std::align_val_t) noexcept { release(block); }
COROSCOPE_HOOK void operator delete[](void* block, std::align_val_t) noexcept { release(block); }
COROSCOPE_HOOK void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    release(block);
}
COROSCOPE_HOOK void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    release(block);
}
COROSCOPE_HOOK void operator delete(void* block, const std::nothrow_t&) noexcept { release(block); }
COROSCOPE_HOOK void operator delete[](void* block, const std::nothrow_t&) noexcept {
    release(block);
}
COROSCOPE_HOOK void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    release(block);
}
COROSCOPE_HOOK void operator delete[](void* block, std::align_val_t,
                                      const std::nothrow_t&) noexcept {
    release(block);
}
