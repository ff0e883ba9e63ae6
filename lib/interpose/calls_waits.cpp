// SPDX-License-Identifier: Apache-2.0

// Calls on sockets, waits for several descriptors, sleeps, waits for processes, and the search for
// an address. epoll_wait and its variants are left out: an idle executor waits in them.

#include <cstddef>
#include <ctime>

#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "passed_call.hpp"

namespace coroscope::interpose {
namespace {

constexpr int no_descriptor = -1;

}  // namespace

// clang-format off: one function a row
COROSCOPE_CALL(int, connect, connect, fd, (int fd, const sockaddr* to, socklen_t size), (fd, to, size));
COROSCOPE_CALL(int, __connect, connect, fd, (int fd, const sockaddr* to, socklen_t size), (fd, to, size));
COROSCOPE_CALL(int, accept, accept, fd, (int fd, sockaddr* from, socklen_t* size), (fd, from, size));
COROSCOPE_CALL(int, accept4, accept4, fd, (int fd, sockaddr* from, socklen_t* size, int flags), (fd, from, size, flags));
COROSCOPE_CALL(ssize_t, recv, recv, fd, (int fd, void* to, std::size_t size, int flags), (fd, to, size, flags));
COROSCOPE_CALL(ssize_t, recvfrom, recvfrom, fd, (int fd, void* to, std::size_t size, int flags, sockaddr* from, socklen_t* room), (fd, to, size, flags, from, room));
COROSCOPE_CALL(ssize_t, recvmsg, recvmsg, fd, (int fd, msghdr* message, int flags), (fd, message, flags));
COROSCOPE_CALL(int, recvmmsg, recvmmsg, fd, (int fd, mmsghdr* messages, unsigned count, int flags, timespec* limit), (fd, messages, count, flags, limit));
COROSCOPE_CALL(ssize_t, __recv_chk, recv, fd, (int fd, void* to, std::size_t size, std::size_t room, int flags), (fd, to, size, room, flags));
COROSCOPE_CALL(ssize_t, __recvfrom_chk, recvfrom, fd, (int fd, void* to, std::size_t size, std::size_t room, int flags, sockaddr* from, socklen_t* length), (fd, to, size, room, flags, from, length));
COROSCOPE_CALL(ssize_t, send, send, fd, (int fd, const void* from, std::size_t size, int flags), (fd, from, size, flags));
COROSCOPE_CALL(ssize_t, __send, send, fd, (int fd, const void* from, std::size_t size, int flags), (fd, from, size, flags));
COROSCOPE_CALL(ssize_t, sendto, sendto, fd, (int fd, const void* from, std::size_t size, int flags, const sockaddr* to, socklen_t room), (fd, from, size, flags, to, room));
COROSCOPE_CALL(ssize_t, sendmsg, sendmsg, fd, (int fd, const msghdr* message, int flags), (fd, message, flags));
COROSCOPE_CALL(int, sendmmsg, sendmmsg, fd, (int fd, mmsghdr* messages, unsigned count, int flags), (fd, messages, count, flags));

COROSCOPE_CALL(int, poll, poll, no_descriptor, (pollfd* of, nfds_t count, int limit_ms), (of, count, limit_ms));
COROSCOPE_CALL(int, __poll, poll, no_descriptor, (pollfd* of, nfds_t count, int limit_ms), (of, count, limit_ms));
COROSCOPE_CALL(int, __poll_chk, poll, no_descriptor, (pollfd* of, nfds_t count, int limit_ms, std::size_t room), (of, count, limit_ms, room));
COROSCOPE_CALL(int, ppoll, ppoll, no_descriptor, (pollfd* of, nfds_t count, const timespec* limit, const sigset_t* mask), (of, count, limit, mask));
COROSCOPE_CALL(int, __ppoll_chk, ppoll, no_descriptor, (pollfd* of, nfds_t count, const timespec* limit, const sigset_t* mask, std::size_t room), (of, count, limit, mask, room));
COROSCOPE_CALL(int, select, select, no_descriptor, (int count, fd_set* in, fd_set* out, fd_set* odd, timeval* limit), (count, in, out, odd, limit));
COROSCOPE_CALL(int, __select, select, no_descriptor, (int count, fd_set* in, fd_set* out, fd_set* odd, timeval* limit), (count, in, out, odd, limit));
COROSCOPE_CALL(int, pselect, pselect, no_descriptor, (int count, fd_set* in, fd_set* out, fd_set* odd, const timespec* limit, const sigset_t* mask), (count, in, out, odd, limit, mask));

COROSCOPE_CALL(int, nanosleep, nanosleep, no_descriptor, (const timespec* length, timespec* left), (length, left));
COROSCOPE_CALL(int, __nanosleep, nanosleep, no_descriptor, (const timespec* length, timespec* left), (length, left));
COROSCOPE_CALL(int, clock_nanosleep, clock_nanosleep, no_descriptor, (clockid_t clock, int flags, const timespec* length, timespec* left), (clock, flags, length, left));
COROSCOPE_CALL(int, usleep, usleep, no_descriptor, (useconds_t length), (length));
COROSCOPE_CALL(unsigned, sleep, sleep, no_descriptor, (unsigned length), (length));
COROSCOPE_CALL(int, thrd_sleep, nanosleep, no_descriptor, (const timespec* length, timespec* left), (length, left));

COROSCOPE_CALL(int, getaddrinfo, getaddrinfo, no_descriptor, (const char* host, const char* service, const addrinfo* hints, addrinfo** found), (host, service, hints, found));
COROSCOPE_CALL(pid_t, wait, wait, no_descriptor, (int* status), (status));
COROSCOPE_CALL(pid_t, __wait, wait, no_descriptor, (int* status), (status));
COROSCOPE_CALL(pid_t, waitpid, waitpid, no_descriptor, (pid_t child, int* status, int options), (child, status, options));
COROSCOPE_CALL(pid_t, __waitpid, waitpid, no_descriptor, (pid_t child, int* status, int options), (child, status, options));
COROSCOPE_CALL(pid_t, wait4, wait4, no_descriptor, (pid_t child, int* status, int options, rusage* use), (child, status, options, use));
COROSCOPE_CALL(int, waitid, waitid, no_descriptor, (idtype_t kind, id_t child, siginfo_t* found, int options), (kind, child, found, options));
// clang-format on

}  // namespace coroscope::interpose
