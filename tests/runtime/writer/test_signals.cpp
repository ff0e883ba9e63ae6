// SPDX-License-Identifier: Apache-2.0

// Signal handlers with scopes, in a storm of signals, while the code that they interrupt records.

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <ctime>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../support/skip.hpp"
#include "../support/build.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

std::atomic<std::uint64_t> handled{0};
std::atomic<bool> storming{false};

// The time starts at the end of a handler: with a timer that repeats, a slow program would have no
// time between signals.
void arm_timer() {
    const itimerval soon{{0, 0}, {0, 10}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
}

void on_signal(int) {
    {
        COROSCOPE("in a handler");
    }
    handled.fetch_add(1, std::memory_order_relaxed);
    if (storming) arm_timer();
}

// SIGALRM as often as the system can send it, until the end of the block.
class storm {
public:
    storm() {
        handled = 0;
        struct sigaction action{};
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART;
        REQUIRE(::sigaction(SIGALRM, &action, nullptr) == 0);
        storming = true;
        arm_timer();
    }
    storm(const storm&) = delete;
    storm& operator=(const storm&) = delete;
    ~storm() {
        storming = false;
        const itimerval never{};
        ::setitimer(ITIMER_REAL, &never, nullptr);
        ::signal(SIGALRM, SIG_IGN);  // a signal may be pending
    }
};

task<int> nested(std::uint64_t number) {
    step(number);
    co_return 1;
}
task<int> outer(std::uint64_t number) { co_return co_await nested(number); }

constexpr std::uint64_t wanted_signals = 3000;
constexpr std::uint64_t most_calls = 4'000'000;  // whose records a trace has room for

// Works during the storm, but not without end if the system's timer is slow. Returns the number of
// calls.
template <class Work>
std::uint64_t work_in_storm(Work work, std::uint64_t most = most_calls) {
    const storm signals;
    std::uint64_t done = 0;
    while (handled < wanted_signals && done < most)
        for (int i = 0; i < 100; ++i) work(done++);
    return done;
}

// A handler that interrupts its thread at the hand-over of a chunk finds the thread busy and loses
// its scope, which is counted. The interrupted code loses nothing.
void check_only_handlers_lost(const analysis::trace& trace, std::uint64_t done) {
    CHECK(count_steps(trace) == done);
    CHECK(count(trace, "in a handler") + trace.health.dropped_newest == handled);
}

// Handlers that run for the first time on a thread without records.
void on_first_signal(int) { COROSCOPE("first of all"); }
void on_early_signal(int) { COROSCOPE("early"); }
void on_site_signal(int) { COROSCOPE("while another place is met"); }

// This signal interrupts the next call of a system function on the recorder's slow path.
thread_local int signal_at_next_call = 0;

[[maybe_unused]] void interrupt_here() {
    const int number = signal_at_next_call;
    signal_at_next_call = 0;
    if (number != 0) ::raise(number);
}

// This signal interrupts the binding of a thread to a session, within a change of its chunk.
thread_local int signal_at_binding = 0;

constinit profile* to_be_stopped = nullptr;
void stop_session(int) { to_be_stopped->stop(); }

sigjmp_buf way_out;
void jump_away(int) { ::siglongjmp(way_out, 1); }

std::atomic<bool> kept{false};
std::atomic<bool> may_go_on{false};
void keep_thread(int) {
    kept = true;
    const timespec pause{0, 1'000'000};
    while (!may_go_on) ::nanosleep(&pause, nullptr);
}

// Not inlined, so that each call has the same depth in the stack.
[[gnu::noinline]] void record_steps(std::uint64_t count) { steps(count); }

class handler {
public:
    handler(int number, void (*function)(int)) : number_(number) { ::signal(number, function); }
    handler(const handler&) = delete;
    handler& operator=(const handler&) = delete;
    ~handler() { ::signal(number_, SIG_DFL); }

private:
    int number_;
};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Replaces the system's function, for the library, too.
extern "C" int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
    static const auto real = reinterpret_cast<int (*)(pthread_key_t, const void*)>(
        ::dlsym(RTLD_NEXT, "pthread_setspecific"));
    interrupt_here();
    return real(key, value);
}
extern "C" int pthread_getattr_np(pthread_t thread, pthread_attr_t* found) noexcept {
    static const auto real = reinterpret_cast<int (*)(pthread_t, pthread_attr_t*)>(
        ::dlsym(RTLD_NEXT, "pthread_getattr_np"));
    interrupt_here();
    return real(thread, found);
}
extern "C" int prctl(int option, ...) noexcept {
    unsigned long given[4];
    va_list all;
    va_start(all, option);
    for (unsigned long& each : given) each = va_arg(all, unsigned long);
    va_end(all);
    if (option == PR_GET_NAME)
        if (const int number = std::exchange(signal_at_binding, 0); number != 0) ::raise(number);
    return static_cast<int>(::syscall(SYS_prctl, option, given[0], given[1], given[2], given[3]));
}
extern "C" void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
    interrupt_here();
    return reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}
#endif

TEST_SUITE("signals") {
    TEST_CASE(
        "a place's and a thread's first scope may be in a handler that interrupts no allocation") {
        if (thread_sanitized) {
            COROSCOPE_SKIP("ThreadSanitizer complains of every allocation in a handler");
            return;
        }
        profile session{{.all_threads = true}};
        std::thread([] {
            const handler installed(SIGUSR1, on_first_signal);
            ::raise(SIGUSR1);
            step(0);
        }).join();
        const analysis::trace trace = load(session.stop());
        CHECK(count(trace, "first of all") == 1);
        CHECK(count_steps(trace) == 1);
        CHECK(trace.health.dropped_newest == 0);
    }

    TEST_CASE("a handler's scope may interrupt the first scope of its thread") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has these functions of the system's for itself");
            return;
        }
        const handler installed(SIGUSR1, on_early_signal);
        on_early_signal(0);
        profile session{{.all_threads = true}};
        for (int i = 0; i < 10; ++i)
            std::thread([] {
                signal_at_next_call = SIGUSR1;
                step(0);
                CHECK(signal_at_next_call == 0);
            }).join();
        const analysis::trace trace = load(session.stop());
        CHECK(count_steps(trace) == 10);
        CHECK(count(trace, "early") == 10);
        CHECK(trace.threads.size() == 10);
    }

    TEST_CASE("a handler's first scope may interrupt the first scope of another place") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has these functions of the system's for itself");
            return;
        }
        const handler installed(SIGUSR1, on_site_signal);
        profile session{{.all_threads = true}};
        step(0);
        signal_at_next_call = SIGUSR1;
        std::vector<std::string> labels;
        std::deque<site> places;
        while (signal_at_next_call != 0 && places.size() < 1000) {
            labels.push_back(std::to_string(places.size()) + std::string(60'000, '.'));
            site& where = places.emplace_back(labels.back().c_str(),
                                              std::source_location::current(), site_kind::scope);
            detail::scope_start start;
            detail::begin_scope(start, where);
            detail::end_scope(where, &start);
        }
        CHECK(signal_at_next_call == 0);
        const analysis::trace trace = load(session.stop());
        CHECK(count(trace, "while another place is met") == 1);
        CHECK(trace.events.size() == places.size() + 2);
    }

    TEST_CASE("a handler may stop the session whose chunk its thread is changing, in more sessions "
              "in turn than may exist at once") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has these functions of the system's for itself");
            return;
        }
        const handler installed(SIGUSR1, stop_session);
        for (int round = 0; round < 10; ++round) {
            profile session{{.all_threads = true, .limit_bytes = 1U << 20}};
            REQUIRE(session.status().state == session_state::recording);
            to_be_stopped = &session;
            signal_at_binding = SIGUSR1;
            step(0);
            CHECK(signal_at_binding == 0);
            CHECK(session.status().state == session_state::stopped);
        }
        profile after{{.all_threads = true}};
        record_steps(5);
        CHECK(count_steps(load(after.stop())) == 5);
    }

    TEST_CASE("a handler that jumps out of a change of chunks leaves its thread able to record, in "
              "this session and in the next") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has these functions of the system's for itself");
            return;
        }
        const handler installed(SIGUSR1, jump_away);
        profile left{{.all_threads = true}};
        signal_at_binding = SIGUSR1;
        if (::sigsetjmp(way_out, 1) == 0) record_steps(1);
        CHECK(signal_at_binding == 0);
        record_steps(5);
        CHECK(count_steps(load(left.stop())) == 5);
        profile next{{.all_threads = true}};
        signal_at_binding = SIGUSR1;
        if (::sigsetjmp(way_out, 1) == 0) record_steps(1);
        CHECK_FALSE(next.stop().empty());
        profile last{{.all_threads = true}};
        record_steps(5);
        CHECK(count_steps(load(last.stop())) == 5);
    }

    TEST_CASE("a thread that a handler holds during a change of chunks does not keep another "
              "thread from stopping the session") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has these functions of the system's for itself");
            return;
        }
        const handler installed(SIGUSR1, keep_thread);
        profile session{{.all_threads = true}};
        std::thread other([] {
            signal_at_binding = SIGUSR1;
            record_steps(5);
        });
        while (!kept) std::this_thread::yield();
        CHECK_FALSE(session.stop().empty());
        CHECK(profile({.all_threads = true}).status().state == session_state::recording);
        may_go_on = true;
        other.join();
    }

    TEST_CASE("scopes of handlers and of the code that they interrupt are all found, or counted") {
        const handler installed(SIGUSR1, on_early_signal);
        profile session{{.all_threads = true, .policy = overflow::wait}};
        std::uint64_t raised = 0;
        const std::uint64_t done = work_in_storm([&raised](std::uint64_t number) {
            step(number);
            if (number % 100 != 0) return;
            ::raise(SIGUSR1);  // not at the hand-over of a chunk: the scope may wait as any other
            ++raised;
        });
        const analysis::trace trace = load(session.stop());
        check_only_handlers_lost(trace, done);
        CHECK(count(trace, "in a handler") > 0);
        CHECK(count(trace, "early") == raised);
        for (const std::string& digits : steps_by_thread(trace)) CHECK(is_whole_sequence(digits));
    }

    TEST_CASE("tasks that handlers interrupt are complete") {
        profile session{{.all_threads = true, .policy = overflow::wait}};
        const std::uint64_t done =
            work_in_storm([](std::uint64_t number) { sync_wait(outer(number)); }, most_calls / 10);
        const analysis::trace trace = load(session.stop());
        check_only_handlers_lost(trace, done);
        for (const std::string& digits : steps_by_thread(trace)) CHECK(is_whole_sequence(digits));
        std::uint64_t ended = 0;
        for (const analysis::task_info& each : trace.tasks) ended += each.end_ns ? 1U : 0U;
        CHECK(ended == trace.tasks.size());
        CHECK(trace.tasks.size() == 2 * done);
    }

    TEST_CASE("small chunks under a storm of signals damage nothing") {
        profile session{{.all_threads = true, .policy = overflow::wait, .chunk_bytes = 4096}};
        const std::uint64_t done = work_in_storm(step);
        const analysis::trace trace = load(session.stop());
        check_only_handlers_lost(trace, done);
        for (const std::string& digits : steps_by_thread(trace)) CHECK(is_whole_sequence(digits));
    }

    TEST_CASE("sessions may start and stop during a storm of signals on every thread") {
        std::atomic<bool> stop{false};
        step(0);  // a thread's first scope must not be in a handler
        std::atomic<bool> started{false};
        std::thread other([&] {
            for (std::uint64_t number = 0; !stop; ++number) {
                step(number);
                started = true;
            }
        });
        while (!started) std::this_thread::yield();
        work_in_storm([](std::uint64_t number) {
            if (number % 1000 != 0) return step(number);
            profile session{{.all_threads = true, .limit_bytes = 1U << 20, .chunk_bytes = 4096}};
            steps(100);
            load(session.stop());
        });
        stop = true;
        other.join();
    }
}
