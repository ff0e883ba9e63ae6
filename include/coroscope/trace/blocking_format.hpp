// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls of the C library that blocked their thread: facts of kind blocking_call, in chunks of kind
// `records`. The calling thread writes one when the call returns, with the start of the call in
// ticks as its first word. Calls shorter than the session's threshold leave no record. See also
// docs/reference/format.md.

#include <cstdint>

#include <coroscope/trace/fact_format.hpp>

namespace coroscope::trace {

// clang-format off: tables with a remark beside each row
/// The function. Variants of one function (open64, __read_chk) have its number.
enum class blocked_function : std::uint8_t {
    unknown = 0,
    read = 1, write = 2, pread = 3, pwrite = 4, readv = 5, writev = 6, preadv = 7, pwritev = 8,
    fsync = 9, fdatasync = 10, open = 11, openat = 12, flock = 13,
    connect = 16, accept = 17, accept4 = 18,
    recv = 19, recvfrom = 20, recvmsg = 21, recvmmsg = 22,
    send = 23, sendto = 24, sendmsg = 25, sendmmsg = 26,
    poll = 32, ppoll = 33, select = 34, pselect = 35,
    nanosleep = 40, clock_nanosleep = 41, usleep = 42, sleep = 43,
    getaddrinfo = 48,
    wait = 49, waitpid = 50, wait4 = 51, waitid = 52,
};

/// The kind of the call's file descriptor when the call had returned.
enum class descriptor_kind : std::uint8_t {
    none = 0,       ///< the call has no descriptor, or several
    unknown = 1,    ///< it was closed meanwhile
    file = 2,       ///< a regular file
    folder = 3,
    socket = 4,
    pipe = 5,       ///< or a named pipe
    terminal = 6,
    event = 7,      ///< a timer, an event counter, an inotify or an epoll descriptor
    device = 8,     ///< a block device, or a character device that is no terminal
    other = 9,
};

struct blocking_call_body {
    std::uint64_t duration;  ///< ticks
    std::uint64_t mark;      ///< of the calling thread and its task, when the call returned
};
static_assert(sizeof(blocking_call_body) == 16);
// clang-format on

/// The tag's id: the fact's kind, the function (8 bits), the descriptor's kind (8 bits).
constexpr std::uint32_t make_blocking_id(blocked_function function,
                                         descriptor_kind descriptor) noexcept {
    return static_cast<std::uint32_t>(fact_kind::blocking_call) |
           static_cast<std::uint32_t>(function) << 8 | static_cast<std::uint32_t>(descriptor) << 16;
}
constexpr blocked_function blocked_function_of(std::uint32_t id) noexcept {
    return static_cast<blocked_function>(id >> 8 & 0xffU);
}
constexpr descriptor_kind descriptor_kind_of(std::uint32_t id) noexcept {
    return static_cast<descriptor_kind>(id >> 16 & 0xffU);
}

}  // namespace coroscope::trace
