// SPDX-License-Identifier: Apache-2.0
#include "wait_looks.hpp"
#include "private_descriptors.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "task_files.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

// Calls that may wait, and whose first argument is a file descriptor.
constexpr long calls_with_descriptor[] = {
    SYS_read,       SYS_write,           SYS_pread64,     SYS_pwrite64,  SYS_readv,
    SYS_writev,     SYS_preadv,          SYS_pwritev,     SYS_preadv2,   SYS_pwritev2,
    SYS_recvfrom,   SYS_recvmsg,         SYS_recvmmsg,    SYS_sendto,    SYS_sendmsg,
    SYS_sendmmsg,   SYS_accept,          SYS_accept4,     SYS_connect,   SYS_fsync,
    SYS_flock,      SYS_fdatasync,       SYS_epoll_pwait, SYS_fallocate, SYS_sendfile,
    SYS_splice,     SYS_ioctl,           SYS_fcntl,       SYS_ftruncate, SYS_getdents64,
    SYS_syncfs,     SYS_sync_file_range,
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
};

bool has_descriptor(std::uint32_t call) noexcept {
    for (const long each : calls_with_descriptor)
        if (static_cast<std::uint32_t>(each) == call) return true;
    return false;
}

}  // namespace

// The file has "running", "-1 STACK CODE" outside of calls (at a page fault), or "CALL" with six
// arguments.
bool wait_looks::look(std::uint32_t thread, trace::blocked_body& to) noexcept {
    if (is_refused_) return false;
    const int file = open_task_file(thread, "syscall");
    if (file < 0) {
        is_refused_ = errno == EACCES || errno == EPERM;
        return false;
    }
    char text[192];
    const bool read = read_task_file(file, text, sizeof text);
    close_private(file);
    if (!read || *text == 'r') return false;
    to = {thread, trace::blocked_call_unknown, 0, 0, 0, 0, 0};
    if (*text == '-') return true;
    const char* at = text;
    to.call = static_cast<std::uint32_t>(take_number(at));
    const std::uint64_t first = take_number(at, 16);
    if (has_descriptor(to.call))
        to.descriptor = static_cast<std::uint32_t>(first) + std::uint64_t{1};
    if (to.call != SYS_futex) return true;
    const auto operation = static_cast<std::uint32_t>(take_number(at, 16));
    const auto expected = static_cast<std::uint32_t>(take_number(at, 16));
    const lock_holder holder = holders_.find({first, operation, expected}, thread);
    to.address = first;
    to.holder = holder.thread;
    to.lock = static_cast<std::uint32_t>(holder.lock);
    return true;
}

}  // namespace coroscope::runtime::inline kernel
