// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reserves address space that takes memory only for touched pages, even if the program locks all
// its future mappings (mlockall(MCL_FUTURE)). In such a program a plain mmap() allocates every page
// at once and keeps it.
//
// Threads: any; a signal handler, too.

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; C libraries name it later than kernels know it
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace coroscope::runtime::inline base {

/// Maps memory for reading and writing at any address, like mmap().
inline void* map_unlocked(std::size_t bytes, int flags, int file = -1) noexcept {
    // The kernel allocates no page that may not be touched.
    void* at = ::mmap(nullptr, bytes, PROT_NONE, flags, file, 0);
    if (at == MAP_FAILED) return at;
    ::munlock(at, bytes);
    if (::mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0) return at;
    const int error = errno;
    ::munmap(at, bytes);
    errno = error;
    return MAP_FAILED;
}

/// Returns whether the program locks its future mappings. The system has no call for this question,
/// but it refuses to discard a locked page.
inline bool new_memory_is_locked() noexcept {
    void* at = ::mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
    const bool locked = ::madvise(at, 1, MADV_DONTNEED) != 0;
    ::munmap(at, 1);
    return locked;
}

/// Replaces a mapping by empty memory while other threads may use it. Returns false if the system
/// refuses; the mapping is then unchanged.
inline bool replace_by_empty_memory(void* place, std::size_t bytes) noexcept {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const auto address = reinterpret_cast<long>(place);
    // Makes the system calls directly: ThreadSanitizer would treat the C library's functions as a
    // write to all bytes of the mapping, and report a race with the threads that use it.
    void* const fresh = new_memory_is_locked() ? map_unlocked(bytes, flags) : MAP_FAILED;
    if (fresh != MAP_FAILED) {
        if (::syscall(SYS_mremap, fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) ==
            address)
            return true;
        ::munmap(fresh, bytes);
    }
    return ::syscall(SYS_mmap, place, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1L,
                     off_t{0}) == address;
}

/// Returns the memory of whole pages to the system.
inline void discard_memory(void* from, std::size_t bytes) noexcept {
    if (::madvise(from, bytes, MADV_DONTNEED) == 0 || errno != EINVAL) return;
    ::munlock(from, bytes);  // the program has locked its mappings (MCL_CURRENT)
    ::madvise(from, bytes, MADV_DONTNEED);
}

/// Returns whether a write to this address would not fault. Returns false if the system cannot tell
/// (before Linux 5.14). Async-signal-safe.
inline bool can_write(const void* address) noexcept {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(address) / page * page;
    void* const at = reinterpret_cast<void*>(start);
    while (::madvise(at, page, MADV_POPULATE_WRITE) != 0)
        if (errno != EINTR && errno != EAGAIN) return false;
    return true;
}

}  // namespace coroscope::runtime::inline base
