// SPDX-License-Identifier: Apache-2.0
#include "refusing_disk.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace coroscope::test {

std::function<int(std::uint64_t end)> allocation;
std::function<int(std::uint64_t from, std::uint64_t end)> writing;

}  // namespace coroscope::test

using coroscope::test::allocation;
using coroscope::test::writing;

// Replaces the C library's function.
extern "C" int fallocate(int file, int mode, off_t offset, off_t bytes) {
    if (allocation) {
        errno = allocation(static_cast<std::uint64_t>(offset + bytes));
        if (errno != 0) return -1;
    }
    return static_cast<int>(::syscall(SYS_fallocate, file, mode, offset, bytes));
}

extern "C" ssize_t pwritev(int file, const iovec* pieces, int count, off_t offset) {
    std::uint64_t bytes = 0;
    for (int i = 0; i < count; ++i) bytes += pieces[i].iov_len;
    if (writing) {
        const auto from = static_cast<std::uint64_t>(offset);
        errno = writing(from, from + bytes);
        if (errno != 0) return -1;
    }
    return ::syscall(SYS_pwritev, file, pieces, count, offset, 0);
}
