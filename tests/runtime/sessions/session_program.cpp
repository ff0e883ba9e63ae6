// SPDX-License-Identifier: Apache-2.0

// The instrumented program that the tests of the environment and of full disks run:
// session_program MODE [ARGUMENT...]

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/attribute.hpp>
#include <coroscope/detail/task_state.hpp>
#include <coroscope/record_function.hpp>

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/scale.hpp"
#include "../support/session_steps.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using arguments = char**;

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

[[noreturn]] void record_for_ever() {
    for (std::uint64_t done = 0;;) {
        step(done++);
        if (done % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

// steps COUNT EXIT
int run_steps(arguments given) {
    steps(number(given[0]));
    return static_cast<int>(number(given[1]));
}

// _exit COUNT
int leave_at_once(arguments given) {
    steps(number(given[0]));
    ::_exit(5);
}

// throw COUNT
int throw_through_main(arguments given) {
    steps(number(given[0]));
    throw std::runtime_error("through main");
}

// session: starts a session in the code
int start_session(arguments) {
    profile session;
    steps(4);
    std::printf("%d %s\n", static_cast<int>(session.status().state), session.status().message);
    return 0;
}

// spawn: starts a child process with the same program
int spawn_program(arguments) {
    steps(2);
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl("/proc/self/exe", "session_program", "steps", "7", "0", nullptr);
        ::_exit(127);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    std::printf("%ld\n", static_cast<long>(child));
    return status;
}

int status_of(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

// fork COUNT [_exit]: forks a child that records; prints its id
int fork_copy(arguments given) {
    steps(2);
    const pid_t child = ::fork();
    steps(number(given[0]));
    if (child == 0 && given[1] != nullptr) ::_exit(0);
    if (child == 0) return 0;
    std::printf("%ld\n", static_cast<long>(child));
    return status_of(child);
}

// quiet fork COUNT: forks a child that records nothing and forks another child that records; prints
// the ids of both
int fork_quiet_copy(arguments given) {
    const pid_t child = ::fork();
    if (child != 0) return status_of(child);
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
        steps(number(given[0]));
        return 0;
    }
    std::printf("%ld %ld\n", static_cast<long>(::getpid()), static_cast<long>(grandchild));
    std::fflush(stdout);
    ::_exit(status_of(grandchild));
}

// daemon COUNT: as daemon(3), but the parent waits
int become_daemon(arguments given) {
    const pid_t child = ::fork();
    if (child != 0) {
        std::printf("%ld\n", static_cast<long>(child));
        return status_of(child);
    }
    ::setsid();
    if (::chdir("/") != 0) return 1;
    steps(number(given[0]));
    return 0;
}

// thread of fork COUNT: forks a child whose new thread records; prints its id
int record_in_thread_of_copy(arguments given) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::thread([&] { steps(number(given[0])); }).join();
        return 0;
    }
    std::printf("%ld\n", static_cast<long>(child));
    return status_of(child);
}

// detached: starts threads that record until the process has ended
int leave_threads_behind(arguments) {
    for (int i = 0; i < 8; ++i) std::thread(record_for_ever).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 0;
}

// arguments [killed]
int offer_arguments(arguments given) {
    const int answer = 42;
    {
        COROSCOPE_ARGS("with arguments", answer);
    }
    return given[0] == nullptr ? 0 : ::raise(SIGKILL);
}

// sleep: 50 ms, threads and a task
task<int> nested() {
    COROSCOPE("task scope");
    co_return 1;
}
int sleep_a_while(arguments) {
    std::thread other([] { steps(5); });
    other.join();
    COROSCOPE("50 ms");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return sync_wait(nested()) - 1;
}

// fill FILE [FILE_SIZE_LIMIT]: records until the trace cannot grow and records are lost, and a
// while longer. (If the session's helper gets no processor, records are lost earlier.)
int fill(arguments given) {
    if (given[1] != nullptr) {
        const rlimit most{number(given[1]), number(given[1])};
        ::setrlimit(RLIMIT_FSIZE, &most);
    }
    profile session{{.output = given[0], .all_threads = true}};
    std::uint64_t attempted = 0;
    const auto full = [&session] {
        return session.status().error_number != 0 && session.status().lost_records != 0;
    };
    for (; !full() && attempted < 40'000'000; attempted += 10'000) steps(10'000);
    steps(10'000);
    attempted += 10'000;
    const session_status status = session.status();
    session.stop();
    std::printf("%llu %d %s\n", static_cast<unsigned long long>(attempted), status.error_number,
                status.message);
    return session.status().state == session_state::stopped ? 0 : 1;
}

// errno: the thread's first scope while no file can be opened
int keep_errno(arguments) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
    errno = EDOM;
    step(0);
    return errno == EDOM ? 0 : 1;
}

// places COUNT: awaits at COUNT places in the source, and at COUNT other places in each of three
// rounds. Prints the number of places that have a site, first and later, and the KiB of the
// cheapest round: the session's helper may make room for the definitions of the first places during
// one of the rounds.
int await_at_places(arguments given) {
    struct place {  // with the layout of both standard libraries
        const char* file;
        const char* function;
        std::uint32_t line;
        std::uint32_t column;
    };
    const auto count = static_cast<std::uint32_t>(number(given[0]));
    std::vector<place> places;
    constexpr std::uint32_t rounds = 3;
    for (std::uint32_t line = 1; line <= (1 + rounds) * count; ++line)
        places.push_back({"file.cpp", "void generated()", line, 1});
    const profile session;
    const auto known = [&](std::uint32_t first) {
        std::size_t with_site = 0;
        for (std::uint32_t at = first; at < first + count; ++at)
            with_site += detail::await_site_id(&places[at]) != 0 ? 1U : 0U;
        return with_site;
    };
    const std::size_t at_first = known(0);
    std::size_t later = 0;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t round = 1; round <= rounds; ++round) {
        const std::uint64_t before = resident_bytes();
        later += known(round * count);
        least = std::min(least, resident_growth(before));
    }
    std::printf("%zu %zu %llu\n", at_first, later, static_cast<unsigned long long>(least >> 10));
    return 0;
}

int forbid_counter() { return ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV); }

// Calls the runtime in several ways: steps, an attribute, a task and a range.
void record_all_sorts() {
    steps(3);
    const attribute tenant("tenant", "acme");
    sync_wait([]() -> task<void> {
        COROSCOPE("in a task");
        co_return;
    }());
    record_function range("range");
}

// counter: no thread may read the processor's counter
int do_without_counter(arguments) {
    if (forbid_counter() != 0) return 2;
    record_all_sorts();
    profile session{{.all_threads = true}};
    record_all_sorts();
    std::printf("%d %s\n", session.status().error_number, session.status().message);
    return session.status().state == session_state::refused ? 0 : 1;
}

// counter of a thread: one thread may not read the counter, others are recorded
int do_without_counter_in_a_thread(arguments given) {
    profile session{{.output = given[0], .all_threads = true}};
    std::thread([] {
        if (forbid_counter() != 0) std::_Exit(2);
        record_all_sorts();
    }).join();
    steps(5);
    return 0;
}

// unload LIBRARY: records in a library that is unloaded during the session
int unload(arguments given) {
    for (int round = 0; round < 3; ++round) {
        void* library = ::dlopen(given[0], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return 1;
        void* function = ::dlsym(library, "run_scope_in_library");
        if (function == nullptr) return 2;
        reinterpret_cast<void (*)()>(function)();
        std::thread(reinterpret_cast<void (*)()>(function)).join();
        ::dlclose(library);
    }
    steps(5);
    return 0;
}

}  // namespace

int main(int, char** argv) {
    const std::map<std::string, std::function<int(arguments)>> modes = {
        {"steps", run_steps},
        {"_exit", leave_at_once},
        {"throw", throw_through_main},
        {"session", start_session},
        {"spawn", spawn_program},
        {"fork", fork_copy},
        {"quiet fork", fork_quiet_copy},
        {"daemon", become_daemon},
        {"thread of fork", record_in_thread_of_copy},
        {"detached", leave_threads_behind},
        {"arguments", offer_arguments},
        {"sleep", sleep_a_while},
        {"fill", fill},
        {"unload", unload},
        {"errno", keep_errno},
        {"places", await_at_places},
        {"counter", do_without_counter},
        {"counter of a thread", do_without_counter_in_a_thread},
    };
    const auto mode = modes.find(argv[1] != nullptr ? argv[1] : "");
    return mode == modes.end() ? 2 : mode->second(argv + 2);
}
