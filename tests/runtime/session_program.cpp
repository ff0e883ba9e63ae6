// SPDX-License-Identifier: Apache-2.0

// The instrumented program that the tests of the environment and of full disks run:
// session_program MODE [ARGUMENT...]

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

#include "session_steps.hpp"
#include "support/scale.hpp"

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

// session: one in the code
int start_session(arguments) {
    profile session;
    steps(4);
    std::printf("%d %s\n", static_cast<int>(session.status().state), session.status().message);
    return 0;
}

// spawn: a child process that is another program of the same kind
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

// fork COUNT: a child process that is a copy
int fork_copy(arguments given) {
    steps(2);
    const pid_t child = ::fork();
    steps(number(given[0]));
    if (child == 0) return 0;
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

// detached: threads that record until the process is gone
int leave_threads_behind(arguments) {
    for (int i = 0; i < 8; ++i) std::thread(record_for_ever).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 0;
}

// arguments
int offer_arguments(arguments) {
    const int answer = 42;
    COROSCOPE_ARGS("with arguments", answer);
    return 0;
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

// fill FILE [FILE_SIZE_LIMIT]: records until the trace cannot grow and records are lost, and a while longer.
// (Where the session's helper gets no processor they are lost before that.)
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

// errno: the thread's first scope where no file can be opened
int keep_errno(arguments) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
    errno = EDOM;
    step(0);
    return errno == EDOM ? 0 : 1;
}

// places COUNT: awaits at so many places in the source, and again; prints how many have a site, and how many KiB the second
// time took
int await_at_places(arguments given) {
    struct place {  // as both standard libraries have it
        const char* file;
        const char* function;
        std::uint32_t line;
        std::uint32_t column;
    };
    const auto count = static_cast<std::uint32_t>(number(given[0]));
    std::vector<place> places;
    for (std::uint32_t line = 1; line <= 2 * count; ++line)
        places.push_back({"file.cpp", "void generated()", line, 1});
    const profile session;
    const auto known = [&](std::uint32_t first) {
        std::size_t with_site = 0;
        for (std::uint32_t at = first; at < first + count; ++at)
            with_site += detail::await_site_id(&places[at]) != 0 ? 1U : 0U;
        return with_site;
    };
    const std::size_t at_first = known(0);
    const std::uint64_t before = resident_bytes();
    const std::size_t later = known(count);
    std::printf("%zu %zu %llu\n", at_first, later,
                static_cast<unsigned long long>((resident_bytes() - before) >> 10));
    return 0;
}

int forbid_counter() { return ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV); }

// What runs into the runtime where nothing records, where something does, and where an attribute is carried.
void record_all_sorts() {
    steps(3);
    const attribute tenant("tenant", "acme");
    sync_wait([]() -> task<void> {
        COROSCOPE("in a task");
        co_return;
    }());
    record_function range("range");
}

// counter: where nobody may read it
int do_without_counter(arguments) {
    if (forbid_counter() != 0) return 2;
    record_all_sorts();
    profile session{{.all_threads = true}};
    record_all_sorts();
    std::printf("%d %s\n", session.status().error_number, session.status().message);
    return session.status().state == session_state::refused ? 0 : 1;
}

// counter of a thread: the same of a thread beside others that are recorded
int do_without_counter_in_a_thread(arguments given) {
    profile session{{.output = given[0], .all_threads = true}};
    std::thread([] {
        if (forbid_counter() != 0) std::_Exit(2);
        record_all_sorts();
    }).join();
    steps(5);
    return 0;
}

// unload LIBRARY: records in a library that is unloaded while the session goes on
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
