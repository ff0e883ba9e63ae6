// SPDX-License-Identifier: Apache-2.0

// A program with planned blocking calls. It checks that each call behaves as without the preloaded
// library, prints a line for each fault, and exits with 1 if there was one.

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>
#include <coroscope/task.hpp>

#include "../support/awaited_call.hpp"

using namespace coroscope::test;

namespace {

int faults = 0;

void expect(bool holds, const char* what) {
    if (holds) return;
    std::printf("fault: %s\n", what);
    faults = 1;
}

void nap(long ms) {
    const timespec length{0, ms * 1'000'000};
    ::nanosleep(&length, nullptr);
}

void read_from_slow_writer() {
    int ends[2];
    expect(::pipe(ends) == 0, "pipe");
    std::thread writer([&] {
        await_reader(ends[0]);
        expect(::write(ends[1], "x", 1) == 1, "write");
    });
    char byte = 0;
    {
        COROSCOPE("reads a pipe");
        expect(::read(ends[0], &byte, 1) == 1 && byte == 'x', "the byte that was written is read");
    }
    writer.join();
    ::close(ends[0]);
    ::close(ends[1]);
}

void receive_with_a_limit() {
    int ends[2];
    expect(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    const timeval limit{0, 10'000};
    ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char byte = 0;
    COROSCOPE("receives with a limit");
    errno = 0;
    expect(::recv(ends[0], &byte, 1, 0) == -1, "a receive without a sender fails");
    expect(errno == EAGAIN, "errno of a recorded call stays");
    errno = ENOTTY;
    nap(2);
    expect(errno == ENOTTY, "a call without an error keeps errno");
}

void open_a_file() {
    char path[] = "blocking-XXXXXX";
    const int made = ::mkstemp(path);
    ::close(made);
    ::unlink(path);
    ::umask(0);
    const int file = ::open(path, O_CREAT | O_RDWR, 0604);
    struct stat about{};
    expect(file >= 0 && ::fstat(file, &about) == 0, "open");
    expect((about.st_mode & 0777) == 0604, "the mode of a new file is passed on");
    expect(::openat(AT_FDCWD, "none/none", O_RDONLY) == -1 && errno == ENOENT,
           "an error is passed on");
    ::close(file);
    ::unlink(path);
}

coroscope::task<> polls() {
    COROSCOPE("polls");
    ::poll(nullptr, 0, 12);
    co_return;
}

void* read_for_ever(void* from) {
    char byte = 0;
    COROSCOPE("is cancelled");
    [[maybe_unused]] const ssize_t got = ::read(*static_cast<int*>(from), &byte, 1);
    return nullptr;
}

void cancel_a_read() {
    int ends[2];
    expect(::pipe(ends) == 0, "pipe");
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, read_for_ever, &ends[0]);
    await_reader(ends[0]);
    ::pthread_cancel(thread);
    void* result = nullptr;
    ::pthread_join(thread, &result);
    expect(result == PTHREAD_CANCELED, "a read is a cancellation point");
}

sigjmp_buf out;

void leave_by_jump() {
    int ends[2];
    expect(::pipe(ends) == 0, "pipe");
    std::signal(SIGALRM, [](int) { siglongjmp(out, 1); });
    const itimerval soon{{0, 0}, {0, 5'000}};
    if (sigsetjmp(out, 1) == 0) {
        ::setitimer(ITIMER_REAL, &soon, nullptr);
        char byte = 0;
        expect(::read(ends[0], &byte, 1) == 2, "the jump leaves the read");
    }
    COROSCOPE("after the jump");
    nap(3);
}

void sleep_in_a_handler() {
    std::signal(SIGUSR1, [](int) { ::usleep(4'000); });
    COROSCOPE("is interrupted");
    std::raise(SIGUSR1);
}

// The child sleeps after its parent has begun to wait for it.
void fork_a_child() {
    int ends[2];
    expect(::pipe(ends) == 0, "pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        char byte = 0;
        expect(::read(ends[0], &byte, 1) == 1, "the parent waits");
        {
            COROSCOPE("in the child");
            nap(6);
        }
        std::exit(faults);
    }
    std::thread watcher([&] {
        await_call([child](long, const waiting_call& call) {
            return call.number == SYS_wait4 && static_cast<pid_t>(call.first) == child;
        });
        expect(::write(ends[1], "x", 1) == 1, "write");
    });
    int status = -1;
    {
        COROSCOPE("waits for the child");
        expect(::waitpid(child, &status, 0) == child && status == 0, "the child ends");
    }
    watcher.join();
    ::close(ends[0]);
    ::close(ends[1]);
}

void fork_another_program() {
    const pid_t child = ::fork();
    if (child == 0) {
        nap(3);
        ::close(::open("/dev/null", O_RDONLY));
        ::execl("/bin/true", "true", nullptr);
        ::_exit(1);
    }
    int status = -1;
    expect(::waitpid(child, &status, 0) == child && status == 0, "the other program ends");
}

}  // namespace

int main() {
    {
        COROSCOPE("naps");
        nap(20);
        nap(30);
    }
    read_from_slow_writer();
    receive_with_a_limit();
    open_a_file();
    coroscope::sync_wait(polls());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    leave_by_jump();
    cancel_a_read();
#endif
    sleep_in_a_handler();
    fork_a_child();
    fork_another_program();
    return faults;
}
