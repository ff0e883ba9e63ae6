// SPDX-License-Identifier: Apache-2.0

#include "allocations.hpp"

#include <cerrno>
#include <cstddef>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace {
thread_local long count = 0;
}

long allocations::so_far() noexcept { return count; }

// The C library's own functions. free() accepts their blocks.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t many, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

// These replace the C library's functions for the program and every library that it loads.
void* malloc(std::size_t bytes) noexcept {
    ++count;
    return __libc_malloc(bytes);
}
void* calloc(std::size_t many, std::size_t bytes) noexcept {
    ++count;
    return __libc_calloc(many, bytes);
}
void* realloc(void* block, std::size_t bytes) noexcept {
    ++count;
    return __libc_realloc(block, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    ++count;
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
    ++count;
    *block = __libc_memalign(alignment, bytes);
    return *block != nullptr ? 0 : ENOMEM;
}
void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
    ++count;
    return reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}
void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file,
             off64_t offset) noexcept {
    return mmap(at, bytes, protection, flags, file, offset);
}
}
