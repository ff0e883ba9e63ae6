// SPDX-License-Identifier: Apache-2.0
#pragma once

// Address space of which only what is touched takes memory, also in a program that has locked whatever it will map
// (mlockall(MCL_FUTURE)): there a plain mmap() makes every page at once, and keeps it.
//
// Threads: any; a signal handler, too.

#include <cerrno>
#include <cstddef>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace coroscope::runtime {

/// As mmap() for reading and writing, anywhere.
inline void* map_unlocked(std::size_t bytes, int flags, int file = -1) noexcept {
    // Where nothing may be touched no page is made.
    void* at = ::mmap(nullptr, bytes, PROT_NONE, flags, file, 0);
    if (at == MAP_FAILED) return at;
    ::munlock(at, bytes);
    if (::mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0) return at;
    const int error = errno;
    ::munmap(at, bytes);
    errno = error;
    return MAP_FAILED;
}

/// Does the program lock what it maps? The system tells nobody, but takes no page back that is locked.
inline bool new_memory_is_locked() noexcept {
    void* at = ::mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
    const bool locked = ::madvise(at, 1, MADV_DONTNEED) != 0;
    ::munmap(at, 1);
    return locked;
}

/// Puts empty memory in the place of a mapping, under whoever uses it. False when the system refuses: then the mapping is
/// as before.
inline bool replace_by_empty_memory(void* place, std::size_t bytes) noexcept {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const auto address = reinterpret_cast<long>(place);
    // The kernel's own calls: ThreadSanitizer takes the C library's for a write to all that stood there, though pages
    // are changed under whoever uses them.
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
    ::munlock(from, bytes);  // the program has locked what was there (MCL_CURRENT)
    ::madvise(from, bytes, MADV_DONTNEED);
}

}  // namespace coroscope::runtime
