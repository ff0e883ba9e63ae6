// SPDX-License-Identifier: Apache-2.0
#include "in_child.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

using moment = std::chrono::steady_clock::time_point;

/// A limit of 1 byte also stops cores that the kernel pipes to a program; 0 does not.
void leave_no_core() {
    const rlimit one_byte{1, 1};
    ::setrlimit(RLIMIT_CORE, &one_byte);
}

[[noreturn]] void be_child(void (*attempt)(void*), void* memory, std::size_t bytes, int to) {
    leave_no_core();
    attempt(memory);
    const auto* at = static_cast<const char*>(memory);
    while (bytes != 0) {
        const ssize_t written = ::write(to, at, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) ::_exit(1);
        at += written;
        bytes -= static_cast<std::size_t>(written);
    }
    ::_exit(0);
}

/// Returns false at the end of the time.
bool wait_until_readable(int descriptor, moment latest) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            latest - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        pollfd watched{descriptor, POLLIN, 0};
        const int ready = ::poll(&watched, 1, static_cast<int>(left.count()));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

/// Reads up to `bytes` until the child has closed its end. Returns false at the end of the time.
bool read_all(int from, char* to, std::size_t bytes, std::size_t& filled, moment latest) {
    while (filled < bytes) {
        if (!wait_until_readable(from, latest)) return false;
        const ssize_t got = ::read(from, to + filled, bytes - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        filled += static_cast<std::size_t>(got);
    }
    return true;
}

/// Does not wait for a child that the kernel cannot end now: init collects it later.
int status_of(pid_t process) {
    constexpr int tries = 200;
    for (int at = 0; at < tries; ++at) {
        int status = 0;
        const pid_t ended = ::waitpid(process, &status, WNOHANG);
        if (ended == process) return status;
        if (ended < 0 && errno != EINTR) return 0;
        const timespec pause{0, 500'000};
        ::nanosleep(&pause, nullptr);
    }
    return 0;
}

}  // namespace

child_end run_in_child(void (*attempt)(void*), void* memory, std::size_t bytes,
                       std::chrono::milliseconds patience) {
    const moment latest = std::chrono::steady_clock::now() + patience;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {.error = errno};
    const pid_t child = ::fork();
    if (child < 0) {
        const int failure = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        return {.error = failure};
    }
    if (child == 0) {
        ::close(ends[0]);
        be_child(attempt, memory, bytes, ends[1]);
    }
    ::close(ends[1]);
    std::size_t filled = 0;
    const bool in_time = read_all(ends[0], static_cast<char*>(memory), bytes, filled, latest);
    ::close(ends[0]);
    if (!in_time) ::kill(child, SIGKILL);
    const int status = status_of(child);
    if (!in_time) return {.timed_out = true};
    if (filled == bytes) return {};
    return WIFSIGNALED(status) ? child_end{.signal = WTERMSIG(status)} : child_end{.error = EIO};
}

}  // namespace coroscope::tools
