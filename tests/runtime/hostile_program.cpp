// SPDX-License-Identifier: Apache-2.0

// A program to which things happen: hostile_program MODE [ARGUMENT...]
//
// It is built twice, with the shared library and with a copy of the library in itself.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/anomaly.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session_steps.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using arguments = char**;
using namespace std::chrono_literals;

// Scopes before main() and after it.
struct early_and_late {
    early_and_late() { steps(3); }
    ~early_and_late() { steps(4); }
};
const early_and_late static_object;

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

void print(const session_status& status) {
    std::printf("%d %d %s\n", static_cast<int>(status.state), status.error_number, status.message);
}

// For up to ten seconds.
void await_error(const profile& session) {
    for (int ms = 0; ms < 10'000 && session.status().error_number == 0; ++ms)
        std::this_thread::sleep_for(1ms);
}

// steps COUNT: beside those of the static object
int run_steps(arguments given) {
    steps(number(given[0]));
    return 0;
}

// What there is to say of a library that was opened: 0 when its scope has run.
int run_scope_in(void* library) {
    if (library == nullptr) return 1;
    void* function = ::dlsym(library, "run_scope_in_library");
    if (function == nullptr) return 2;
    reinterpret_cast<void (*)()>(function)();
    return 0;
}

// load LIBRARY: runs its scope, and three of our own
int load_library(arguments given) {
    const int failed = run_scope_in(::dlopen(given[0], RTLD_NOW | RTLD_LOCAL));
    if (failed == 0) steps(3);
    return failed;
}

// namespace LIBRARY: the same where the loader gives the library copies of all that it needs, twice
int load_in_namespaces(arguments given) {
    for (int i = 0; i < 2; ++i) {
        const int failed = run_scope_in(::dlmopen(LM_ID_NEWLM, given[0], RTLD_NOW | RTLD_LOCAL));
        if (failed != 0) return failed;
    }
    steps(3);
    return 0;
}

// exec COUNT: three steps, then the process is another program, which makes so many
int become_another(arguments given) {
    steps(3);
    char program[] = "/proc/self/exe";
    char mode[] = "steps";
    char* words[] = {program, mode, given[0], nullptr};
    ::execv(program, words);
    return 1;
}

// session FILE LIBRARY: one in the code, after the library was loaded
int record_beside_library(arguments given) {
    if (load_library(given + 1) != 0) return 1;
    profile session{{.output = given[0]}};
    steps(5);
    print(session.status());
    return 0;
}

// Somebody else's.
void cut(const char* path) {
    if (::truncate(path, 8192) != 0) std::_Exit(9);
}

// Until the recorder has room ahead, and writes to its file no more than anybody else.
void await_room(const char* path) {
    std::uintmax_t before = 0;
    for (std::uintmax_t now = 1; now != before; now = std::filesystem::file_size(path)) {
        before = now;
        std::this_thread::sleep_for(100ms);
    }
}

// cut FILE: while nobody records
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

// cut while recording FILE: four threads record all the while, and the session reports crashes
int cut_while_recording(arguments given) {
    profile session{
        {.output = given[0], .all_threads = true, .chunk_bytes = 4096, .crash_report = 2}};
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

// Finds the trace's among our descriptors, and gives its number to another file. -1: it is not there.
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

// close its descriptor FILE LOG: the number becomes that of a log, which gets lines before and after the session's stop
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

// --- threads -----------------------------------------------------------------------------------------

// pthread_exit: the main thread ends by that, and another one when it has made 100 steps
int end_main_thread(arguments) {
    std::atexit([] { std::puts("at exit"); });
    std::thread([] {
        std::this_thread::sleep_for(100ms);
        steps(100);
    }).detach();
    ::pthread_exit(nullptr);
}

struct cancelled_work {
    const char* file;
    bool finished = false;
    bool unwound = false;
};

struct on_unwinding {
    bool& unwound;
    ~on_unwinding() { unwound = true; }
};

task<void> fail() {
    throw std::runtime_error("as it should");
    co_return;
}

void* work_though_cancelled(void* data) {
    auto& work = *static_cast<cancelled_work*>(data);
    const on_unwinding seen{work.unwound};
    ::pthread_cancel(::pthread_self());
    profile session{{.output = work.file, .all_threads = true}};
    const anomaly_detection detection;
    try {
        sync_wait(fail());
    } catch (const std::runtime_error&) {
        steps(5);
    }
    session.toggle_collection(false);
    session.stop();
    work.finished = true;
    ::pthread_testcancel();
    return nullptr;
}

// cancelled FILE: a thread that is to be cancelled starts and stops a session, and one line tells of a task that fails
int record_though_cancelled(arguments given) {
    cancelled_work work{given[0]};
    pthread_t thread{};
    void* result = nullptr;
    if (::pthread_create(&thread, nullptr, work_though_cancelled, &work) != 0) return 2;
    ::pthread_join(thread, &result);
    return work.finished && work.unwound && result == PTHREAD_CANCELED ? 0 : 1;
}

// --- stacks ------------------------------------------------------------------------------------------

// clang leaves out an allocation that nobody looks at, and takes it to succeed.
bool take_memory(std::size_t bytes) {
    static void* volatile taken;
    taken = std::malloc(bytes);
    return taken != nullptr;
}

struct detached {
    struct promise_type {
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};
struct suspend_into {
    std::coroutine_handle<>& waiter;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> suspended) const noexcept { waiter = suspended; }
    void await_resume() const noexcept {}
};
detached suspends_in_scope(std::coroutine_handle<>& waiter) {
    COROSCOPE("suspended");
    co_await suspend_into{waiter};
}

// suspend in new heap FILE: a scope in a coroutine, whose frame lies where there was no heap yet when the thread had its
// first scope. 77: the allocator has no such heap.
int suspend_in_new_heap(arguments given) {
    const auto before = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    const profile session{{.output = given[0], .all_threads = true}};
    for (int i = 0; i < 10; ++i) take_memory(64 << 10);
    std::coroutine_handle<> waiter;
    for (int i = 0; i < 10'000; ++i) {  // what malloc has left of the old heap is used up first
        suspends_in_scope(waiter);
        if (reinterpret_cast<std::uintptr_t>(waiter.address()) < before) continue;
        waiter.resume();
        return reinterpret_cast<std::uintptr_t>(::sbrk(0)) > before ? 0 : 77;
    }
    return 77;
}

// unlimited stack FILE: the same, where the stack may grow for ever. 77: it may not.
int unlimit_stack(arguments given) {
    const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_STACK, &limit) != 0) return 77;
    char program[] = "/proc/self/exe";
    char mode[] = "suspend in new heap";
    char* words[] = {program, mode, given[0], nullptr};
    ::execv(program, words);
    return 1;
}

// --- memory ------------------------------------------------------------------------------------------

std::size_t address_space() {
    std::size_t pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void leave_room_for(std::size_t bytes) {
    const rlimit limit{address_space() + bytes, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(9);
}

void exhaust_memory() {
    for (std::size_t bytes = 1U << 20; bytes >= 16; bytes /= 2)
        while (take_memory(bytes)) {
        }
}

// no memory at the start FILE: too little for a session as it is by default, in memory and in a file, and for
// the table of live tasks
int start_without_memory(arguments given) {
    leave_room_for(64U << 20);
    print(profile{{.all_threads = true}}.status());
    print(profile{{.output = given[0], .all_threads = true}}.status());
    print(profile{{.limit_bytes = 1U << 20}}.status());
    leave_room_for(4U << 20);
    print(profile{{.limit_bytes = 32U << 20}}.status());
    return track_live_tasks(true) ? 1 : 0;
}

// no memory any more [FILE]: a session that records goes on
int go_on_without_memory(arguments given) {
    profile session{{.output = given[0], .all_threads = true, .limit_bytes = 8U << 20}};
    std::atomic<bool> exhausted{false};
    std::thread late([&] {  // it meets the runtime when there is no memory for it
        while (!exhausted) std::this_thread::sleep_for(100us);
        steps(10);
    });
    steps(1000);
    leave_room_for(0);
    exhaust_memory();
    exhausted = true;
    late.join();
    steps(100'000);
    const std::uint64_t lost = session.status().lost_records;
    const bool empty = session.stop().empty();
    const session_status status = session.status();
    char line[256];
    const int size =
        std::snprintf(line, sizeof line, "%llu %d %d %s\n", static_cast<unsigned long long>(lost),
                      empty ? 1 : 0, status.error_number, status.message);
    return ::write(STDOUT_FILENO, line, static_cast<std::size_t>(size)) == size ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    const std::map<std::string, std::function<int(arguments)>> modes = {
        {"steps", run_steps},
        {"load", load_library},
        {"namespace", load_in_namespaces},
        {"exec", become_another},
        {"session", record_beside_library},
        {"cut", cut_while_idle},
        {"cut while recording", cut_while_recording},
        {"cut at the stop", cut_at_stop},
        {"remove", remove_file},
        {"close its descriptor", close_descriptor},
        {"pthread_exit", end_main_thread},
        {"cancelled", record_though_cancelled},
        {"suspend in new heap", suspend_in_new_heap},
        {"unlimited stack", unlimit_stack},
        {"no memory at the start", start_without_memory},
        {"no memory any more", go_on_without_memory},
    };
    const auto mode = modes.find(count > 1 ? words[1] : "");
    return mode == modes.end() ? 2 : mode->second(words + 2);
}
