// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files /proc/self/task/THREAD/…, by the kernel's ids of threads.
//
// Threads: any. Allocates nothing.

#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "private_descriptors.hpp"

namespace coroscope::runtime::inline kernel {

/// Sums of a thread from its start.
struct thread_sums {
    std::uint64_t on_cpu_ns = 0;
    std::uint64_t delay_ns = 0;
    std::uint64_t stretches = 0;

    bool operator==(const thread_sums&) const = default;
};

/// A number of a text; 0 if there is none. Moves `text` behind it. `base`: 10 or 16, of which the
/// latter may begin with 0x.
std::uint64_t take_number(const char*& text, unsigned base = 10) noexcept;

/// Opens a file of a thread. Returns a descriptor or -1 (errno: ENOENT or ESRCH if it has ended).
int open_task_file(std::uint32_t thread, const char* name) noexcept;

/// Reads as much as fits from the begin of a file, and ends it by a zero. Returns false if nothing
/// could be read.
bool read_task_file(int file, char* to, std::size_t size) noexcept;

/// Reads "schedstat" from an open file. False if that cannot be read.
bool read_sums(int file, thread_sums& sums) noexcept;

/// The same by the thread. Returns 0 or an errno.
int read_sums_of(std::uint32_t thread, thread_sums& sums) noexcept;

struct linux_directory_entry {  // linux_dirent64, which no header defines
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t bytes;
    std::uint8_t type;
    char name[1];
};

/// Calls `visit(thread)` for each thread of the process until it returns false.
template <class Visitor>
void for_each_thread(Visitor visit) noexcept {
    const int folder = open_private("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    alignas(linux_directory_entry) char entries[2048];
    bool goes_on = true;
    while (goes_on) {
        const long got = ::syscall(SYS_getdents64, folder, entries, sizeof entries);
        if (got <= 0) break;
        for (long at = 0; at < got && goes_on;) {
            const auto* entry = reinterpret_cast<const linux_directory_entry*>(entries + at);
            const char* name = entry->name;
            const auto thread = static_cast<std::uint32_t>(take_number(name));
            if (thread != 0) goes_on = visit(thread);
            at += entry->bytes;
        }
    }
    close_private(folder);
}

}  // namespace coroscope::runtime::inline kernel
