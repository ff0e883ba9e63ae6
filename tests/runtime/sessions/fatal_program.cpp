// SPDX-License-Identifier: Apache-2.0

// A program that meets a fatal signal, in a task: fatal_program MODE [SIGNAL]
//
// Its session reports crashes on standard error unless MODE says otherwise. Its own handlers print
// their arguments on standard output.

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>

using namespace coroscope;

namespace {

struct arguments {
    int signal;        // SIGNAL, by a fault or by a call
    const char* file;  // the trace, or null
};

profile_options reporting(const arguments& given) {
    return {.output = given.file, .all_threads = true, .limit_bytes = 4U << 20, .crash_report = 2};
}

// Not inlined: the compiler would see that the call is fatal.
[[gnu::noinline]] void meet(int number) {
    [[maybe_unused]] volatile int dividend = 7;
    [[maybe_unused]] volatile int zero = 0;
    switch (number) {
        case SIGSEGV: *static_cast<volatile int*>(nullptr) = 1; break;
        case SIGILL: __builtin_trap();
        case SIGFPE:
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
            dividend = dividend / zero;
#else
            std::raise(number);
#endif
            break;
        case SIGABRT: std::abort();
        default: std::raise(number);
    }
}

task<int> fetches(int number) {
    meet(number);
    co_return 1;
}
task<int> answers(int number) { co_return co_await fetches(number); }

int crash_in_task(int number) { return sync_wait(answers(number)); }

// --- handlers of the program -------------------------------------------------------------------------

void say(const char* what, int number, int code, const void* address) {
    char line[128];
    const int size = std::snprintf(line, sizeof line, "%s %d %d %d\n", what, number, code,
                                   address == nullptr ? 0 : 1);
    if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(size)) != size) std::_Exit(9);
}

void with_info(int number, siginfo_t* info, void* context) {
    say("info", number, info->si_code > 0 ? 1 : 0, context);
    ::_exit(7);
}
void plain(int number) {
    say("plain", number, 0, nullptr);
    ::_exit(8);
}
sigjmp_buf back;
void recovers(int) { siglongjmp(back, 1); }

struct sigaction action_of(int number) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    return now;
}
struct sigaction handle_plainly(int number, void (*handler)(int)) {
    struct sigaction mine{};
    struct sigaction before{};
    mine.sa_handler = handler;
    ::sigaction(number, &mine, &before);
    return before;
}
void handle_with_info(int number) {
    struct sigaction mine{};
    mine.sa_sigaction = with_info;
    mine.sa_flags = SA_SIGINFO;
    ::sigaction(number, &mine, nullptr);
}

struct sigaction chained;  // the handler that a handler of the program calls
void calls_on(int number, siginfo_t* info, void* context) {
    say("mine", number, 0, nullptr);
    chained.sa_sigaction(number, info, context);
}
void handle_and_call_on(int number) {
    struct sigaction mine{};
    mine.sa_sigaction = calls_on;
    mine.sa_flags = SA_SIGINFO;
    ::sigaction(number, &mine, &chained);
}

// --- modes -------------------------------------------------------------------------------------------

int without_report(const arguments& given) {
    profile session{{.output = given.file, .all_threads = true}};
    return crash_in_task(given.signal);
}

int in_task(const arguments& given) {
    profile session{reporting(given)};
    return crash_in_task(given.signal);
}

int outside_tasks(const arguments& given) {
    profile session{reporting(given)};
    meet(given.signal);
    return 0;
}

int on_unknown_thread(const arguments& given) {
    profile session{reporting(given)};
    std::thread([&] { meet(given.signal); }).join();
    return 0;
}

int from_environment(const arguments& given) { return crash_in_task(given.signal); }

int before_it_info(const arguments& given) {
    handle_with_info(given.signal);
    profile session{reporting(given)};
    return crash_in_task(given.signal);
}

int before_it_plain(const arguments& given) {
    handle_plainly(given.signal, plain);
    profile session{reporting(given)};
    return crash_in_task(given.signal);
}

// An ignored signal that is sent changes nothing.
int before_it_ignored(const arguments& given) {
    handle_plainly(given.signal, SIG_IGN);
    profile session{reporting(given)};
    std::raise(given.signal);
    say("went on", given.signal, 0, nullptr);
    return crash_in_task(given.signal);
}

int before_it_recovering(const arguments& given) {
    handle_plainly(given.signal, recovers);
    profile session{reporting(given)};
    if (sigsetjmp(back, 1) == 0) meet(given.signal);
    say("recovered", given.signal, 0, nullptr);
    session.stop();
    return action_of(given.signal).sa_handler == recovers ? 0 : 1;
}

int after_it(const arguments& given) {
    profile session{reporting(given)};
    handle_and_call_on(given.signal);
    return crash_in_task(given.signal);
}

// A handler that was installed over ours stays installed, and may go on calling ours.
int outlives_session(const arguments& given) {
    {
        profile session{reporting(given)};
        handle_and_call_on(given.signal);
    }
    if (action_of(given.signal).sa_sigaction != calls_on) return 1;
    return crash_in_task(given.signal);
}

// The handler of the second session calls the program's handler, which calls the handler of the
// first session. Both sessions have the same handler.
int in_a_circle(const arguments& given) {
    {
        profile session{reporting(given)};
        handle_and_call_on(given.signal);
    }
    profile session{reporting(given)};
    return crash_in_task(given.signal);
}

int removed(const arguments& given) {
    for (int round = 0; round < 3; ++round) {
        if (action_of(given.signal).sa_handler != SIG_DFL) return 1;
        profile session{reporting(given)};
        if (action_of(given.signal).sa_handler == SIG_DFL) return 2;
    }
    return action_of(given.signal).sa_handler == SIG_DFL ? 0 : 3;
}

// The address of the table of live tasks is wrong: reading the table is another crash.
extern "C" {
extern char coroscope_live_root[];
}
task<int> spoils_table(int number) {
    constexpr std::size_t address_of_slots = 16;  // docs/how-to/live.md
    const std::uintptr_t nowhere = 64;
    std::memcpy(coroscope_live_root + address_of_slots, &nowhere, sizeof nowhere);
    meet(number);
    co_return 0;
}
int crashes_itself(const arguments& given) {
    profile session{reporting(given)};
    return sync_wait(spoils_table(given.signal));
}

[[gnu::noinline]] int recurse(int depth) {
    volatile char room[4096];
    room[0] = static_cast<char>(depth);
    return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}
task<int> overflows() { co_return recurse(0); }

int overflow_of_main(const arguments& given) {
    profile session{reporting(given)};
    return sync_wait(overflows());
}

int overflow_of_thread(const arguments& given) {
    profile session{reporting(given)};
    std::thread([] { sync_wait(overflows()); }).join();
    return 0;
}

int at_once(const arguments& given) {
    profile session{reporting(given)};
    std::thread threads[4];
    for (std::thread& each : threads) each = std::thread([&] { crash_in_task(given.signal); });
    for (std::thread& each : threads) each.join();
    return 0;
}

// Standard error is a full pipe without a reader.
int into_full_pipe(const arguments& given) {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK) != 0) return 1;
    char block[4096] = {};
    while (::write(ends[1], block, sizeof block) > 0) {
    }
    ::fcntl(ends[1], F_SETFL, 0);
    ::dup2(ends[1], STDERR_FILENO);
    return in_task(given);
}

int into_broken_pipe(const arguments& given) {
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
    ::close(ends[0]);
    return in_task(given);
}

int in_forked_child(const arguments& given) {
    profile session{reporting(given)};
    const pid_t child = ::fork();
    if (child == 0) crash_in_task(given.signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    say("child", WTERMSIG(status), 0, nullptr);
    return 0;
}

}  // namespace

int main(int count, char** words) {
    const std::map<std::string, std::function<int(const arguments&)>> modes = {
        {"without", without_report},
        {"task", in_task},
        {"outside", outside_tasks},
        {"thread", on_unknown_thread},
        {"environment", from_environment},
        {"info", before_it_info},
        {"plain", before_it_plain},
        {"ignored", before_it_ignored},
        {"recovering", before_it_recovering},
        {"after", after_it},
        {"outlives", outlives_session},
        {"circle", in_a_circle},
        {"removed", removed},
        {"itself", crashes_itself},
        {"overflow", overflow_of_main},
        {"overflow of thread", overflow_of_thread},
        {"at once", at_once},
        {"full pipe", into_full_pipe},
        {"broken pipe", into_broken_pipe},
        {"fork", in_forked_child},
    };
    const auto mode = modes.find(count > 2 ? words[1] : "");
    if (mode == modes.end()) return 2;
    return mode->second({std::atoi(words[2]), count > 3 ? words[3] : nullptr});
}
