// SPDX-License-Identifier: Apache-2.0

// Calls that read, write, open and synchronise files and other descriptors.

#include <cstdarg>
#include <cstddef>

#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "passed_call.hpp"

namespace coroscope::interpose {

// clang-format off: one function a row
COROSCOPE_CALL(ssize_t, read, read, fd, (int fd, void* to, std::size_t size), (fd, to, size));
COROSCOPE_CALL(ssize_t, write, write, fd, (int fd, const void* from, std::size_t size), (fd, from, size));
COROSCOPE_CALL(ssize_t, pread, pread, fd, (int fd, void* to, std::size_t size, off64_t at), (fd, to, size, at));
COROSCOPE_CALL(ssize_t, pread64, pread, fd, (int fd, void* to, std::size_t size, off64_t at), (fd, to, size, at));
COROSCOPE_CALL(ssize_t, pwrite, pwrite, fd, (int fd, const void* from, std::size_t size, off64_t at), (fd, from, size, at));
COROSCOPE_CALL(ssize_t, pwrite64, pwrite, fd, (int fd, const void* from, std::size_t size, off64_t at), (fd, from, size, at));
COROSCOPE_CALL(ssize_t, readv, readv, fd, (int fd, const iovec* to, int count), (fd, to, count));
COROSCOPE_CALL(ssize_t, writev, writev, fd, (int fd, const iovec* from, int count), (fd, from, count));
COROSCOPE_CALL(ssize_t, preadv, preadv, fd, (int fd, const iovec* to, int count, off64_t at), (fd, to, count, at));
COROSCOPE_CALL(ssize_t, preadv64, preadv, fd, (int fd, const iovec* to, int count, off64_t at), (fd, to, count, at));
COROSCOPE_CALL(ssize_t, preadv2, preadv, fd, (int fd, const iovec* to, int count, off64_t at, int flags), (fd, to, count, at, flags));
COROSCOPE_CALL(ssize_t, preadv64v2, preadv, fd, (int fd, const iovec* to, int count, off64_t at, int flags), (fd, to, count, at, flags));
COROSCOPE_CALL(ssize_t, pwritev, pwritev, fd, (int fd, const iovec* from, int count, off64_t at), (fd, from, count, at));
COROSCOPE_CALL(ssize_t, pwritev64, pwritev, fd, (int fd, const iovec* from, int count, off64_t at), (fd, from, count, at));
COROSCOPE_CALL(ssize_t, pwritev2, pwritev, fd, (int fd, const iovec* from, int count, off64_t at, int flags), (fd, from, count, at, flags));
COROSCOPE_CALL(ssize_t, pwritev64v2, pwritev, fd, (int fd, const iovec* from, int count, off64_t at, int flags), (fd, from, count, at, flags));
COROSCOPE_CALL(int, fsync, fsync, fd, (int fd), (fd));
COROSCOPE_CALL(int, fdatasync, fdatasync, fd, (int fd), (fd));
COROSCOPE_CALL(int, flock, flock, fd, (int fd, int operation), (fd, operation));

// The C library's other names for them: with a check of the buffer (-D_FORTIFY_SOURCE), and those
// that other libraries call.
COROSCOPE_CALL(ssize_t, __read_chk, read, fd, (int fd, void* to, std::size_t size, std::size_t room), (fd, to, size, room));
COROSCOPE_CALL(ssize_t, __pread_chk, pread, fd, (int fd, void* to, std::size_t size, off64_t at, std::size_t room), (fd, to, size, at, room));
COROSCOPE_CALL(ssize_t, __pread64_chk, pread, fd, (int fd, void* to, std::size_t size, off64_t at, std::size_t room), (fd, to, size, at, room));
COROSCOPE_CALL(ssize_t, __read, read, fd, (int fd, void* to, std::size_t size), (fd, to, size));
COROSCOPE_CALL(ssize_t, __write, write, fd, (int fd, const void* from, std::size_t size), (fd, from, size));
COROSCOPE_CALL(ssize_t, __pread64, pread, fd, (int fd, void* to, std::size_t size, off64_t at), (fd, to, size, at));
COROSCOPE_CALL(ssize_t, __pwrite64, pwrite, fd, (int fd, const void* from, std::size_t size, off64_t at), (fd, from, size, at));
COROSCOPE_CALL(int, __open_2, open, result, (const char* path, int flags), (path, flags));
COROSCOPE_CALL(int, __open64_2, open, result, (const char* path, int flags), (path, flags));
COROSCOPE_CALL(int, __openat_2, openat, result, (int folder, const char* path, int flags), (folder, path, flags));
COROSCOPE_CALL(int, __openat64_2, openat, result, (int folder, const char* path, int flags), (folder, path, flags));
COROSCOPE_CALL(int, creat, open, result, (const char* path, mode_t mode), (path, mode));
COROSCOPE_CALL(int, creat64, open, result, (const char* path, mode_t mode), (path, mode));

// The mode is read only if the caller had to pass one.
#define COROSCOPE_TAKE_MODE                                               \
    mode_t mode = 0;                                                      \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {     \
        va_list rest;                                                     \
        va_start(rest, flags);                                            \
        mode = va_arg(rest, mode_t);                                      \
        va_end(rest);                                                     \
    }                                                                     \
    static_assert(true)

COROSCOPE_CALL_AFTER(COROSCOPE_TAKE_MODE, int, open, open, result, (const char* path, int flags, ...), (path, flags, mode));
COROSCOPE_CALL_AFTER(COROSCOPE_TAKE_MODE, int, open64, open, result, (const char* path, int flags, ...), (path, flags, mode));
COROSCOPE_CALL_AFTER(COROSCOPE_TAKE_MODE, int, __open, open, result, (const char* path, int flags, ...), (path, flags, mode));
COROSCOPE_CALL_AFTER(COROSCOPE_TAKE_MODE, int, __open64, open, result, (const char* path, int flags, ...), (path, flags, mode));
COROSCOPE_CALL_AFTER(COROSCOPE_TAKE_MODE, int, openat, openat, result, (int folder, const char* path, int flags, ...), (folder, path, flags, mode));
COROSCOPE_CALL_AFTER(COROSCOPE_TAKE_MODE, int, openat64, openat, result, (int folder, const char* path, int flags, ...), (folder, path, flags, mode));
// clang-format on

}  // namespace coroscope::interpose
