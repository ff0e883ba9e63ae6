// SPDX-License-Identifier: Apache-2.0

// Modes of hostile_program: others change the trace file or its descriptor.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../support/helper_turns.hpp"
#include "../support/session_steps.hpp"
#include "hostile_modes.hpp"

using namespace std::chrono_literals;

namespace coroscope::test {

namespace {

// Cuts the trace file, as another process may do.
void cut(const char* path) {
    if (::truncate(path, 8192) != 0) std::_Exit(9);
}

// Finds the descriptor of the trace in this process, and gives its number to another file. Returns
// -1 if there is no such descriptor.
int take_descriptor(const char* trace, int other) {
    struct stat wanted{};
    if (::stat(trace, &wanted) != 0) return -1;
    for (int number = 3; number < 1024; ++number) {
        struct stat about{};
        const bool found = ::fstat(number, &about) == 0 && about.st_ino == wanted.st_ino &&
                           about.st_dev == wanted.st_dev;
        if (found) return ::dup2(other, number);
    }
    return -1;
}

// Returns the address at which this process has a file mapped, or 0.
std::uintptr_t find_mapping(const std::string& path) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.ends_with(path)) return std::stoull(line, nullptr, 16);
    return 0;
}

// Sends this thread the signal of an access behind the end of a mapped file.
void send_fault(std::uintptr_t address) {
    siginfo_t fault{};
    fault.si_signo = SIGBUS;
    fault.si_code = BUS_ADRERR;
    fault.si_addr = reinterpret_cast<void*>(address);
    ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), SIGBUS, &fault);
}

}  // namespace

// cut FILE: while no thread records
int cut_while_idle(arguments given) {
    profile session{{.output = given[0], .all_threads = true}};
    steps(1000);
    await_room(given[0]);
    cut(given[0]);
    await_error(session);
    steps(100'000);
    std::thread([] { steps(1000); }).join();
    const bool lost = session.status().lost_records != 0;
    session.stop();
    print(session.status());
    return lost ? 0 : 1;
}

// cut while recording FILE DESCRIPTOR: while four threads record. Reports crashes on that
// descriptor, unless it is -1.
int cut_while_recording(arguments given) {
    profile session{{.output = given[0],
                     .all_threads = true,
                     .chunk_bytes = 4096,
                     .crash_report = std::atoi(given[1])}};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (std::uint64_t done = 0; !stop; ++done) step(done);
        });
    std::this_thread::sleep_for(20ms);
    cut(given[0]);
    await_error(session);
    std::this_thread::sleep_for(20ms);
    session.stop();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    print(session.status());
    return 0;
}

// late faults FILE OWN: a cut session ends before a thread gets the signal of its fault. After it
// the program itself cuts a file that it has mapped, and touches it.
int fault_late(arguments given) {
    std::uintptr_t trace = 0;
    {
        profile session{{.output = given[0]}};
        steps(1000);
        trace = find_mapping(given[0]);
        cut(given[0]);
        await_error(session);
    }
    send_fault(trace);
    std::puts("goes on");
    std::fflush(stdout);
    const int own = ::open(given[1], O_RDWR | O_CREAT, 0600);
    if (::ftruncate(own, 4096) != 0) return 1;
    void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    if (at == MAP_FAILED || ::ftruncate(own, 0) != 0) return 2;
    *static_cast<volatile char*>(at) = 1;
    return 3;
}

// cut at the stop FILE
int cut_at_stop(arguments given) {
    profile session{{.output = given[0]}};
    steps(1000);
    await_room(given[0]);
    cut(given[0]);
    session.stop();
    return 0;
}

// remove FILE
int remove_file(arguments given) {
    profile session{{.output = given[0]}};
    steps(10);
    ::unlink(given[0]);
    await_error(session);
    session.stop();
    print(session.status());
    return 0;
}

// close its descriptor FILE LOG: a log gets the number of the trace's descriptor, and lines before
// and after the session's stop
int close_descriptor(arguments given) {
    profile session{{.output = given[0], .all_threads = true, .limit_bytes = 8U << 20}};
    steps(1000);
    const int opened = ::open(given[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int log = take_descriptor(given[0], opened);
    ::close(opened);
    if (::write(log, "line\n", 5) != 5) return 1;
    await_error(session);
    steps(500'000);
    const std::uint64_t lost = session.status().lost_records;
    session.stop();
    if (::write(log, "line\n", 5) != 5) return 2;
    std::printf("%llu\n", static_cast<unsigned long long>(lost));
    print(session.status());
    return 0;
}

}  // namespace coroscope::test
