// SPDX-License-Identifier: Apache-2.0
#pragma once

// File descriptors of one thread alone. The program never meets them: it cannot close them, a
// forked child does not inherit them, and they take no number that the program's next open() should
// have. In exchange the thread cannot use a descriptor of the program.

#include <cstddef>
#include <cstdint>

namespace coroscope::runtime::inline kernel {

/// Gives the calling thread, for the rest of its life, an empty table of descriptors in place of
/// the process's. Returns 0 or an errno: ENOSYS before Linux 5.9.
int take_private_descriptors() noexcept;

/// The number of descriptors that a thread may have open (RLIMIT_NOFILE).
std::uint64_t descriptor_limit() noexcept;

// System calls with private descriptors. They bypass the C library, because ThreadSanitizer would
// take a descriptor's number for the same number in the program's table.
int open_private(const char* path, int flags) noexcept;
void close_private(int descriptor) noexcept;
/// Reads from the beginning of a file. Returns the number of bytes; negative: an error.
long read_private(int descriptor, void* to, std::size_t bytes) noexcept;
/// Maps a descriptor for reading and writing. Returns null if that fails; errno has the reason.
void* map_private(int descriptor, std::size_t bytes) noexcept;
/// Returns 0, or an errno.
int control_private(int descriptor, unsigned long request, int argument) noexcept;

}  // namespace coroscope::runtime::inline kernel
