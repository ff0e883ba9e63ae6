// SPDX-License-Identifier: Apache-2.0

// Scopes in unsuitable places. A scope there may or may not be recorded, but does no harm.

#include <coroscope/coroscope.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "../../support/scratch_file.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct scope_at_exit {
    ~scope_at_exit() { COROSCOPE("at exit"); }
};
const scope_at_exit static_object;

struct scope_just_before {
    ~scope_just_before() { COROSCOPE("just before"); }
};

struct scope_at_thread_end {
    bool touched = false;
    ~scope_at_thread_end() {
        COROSCOPE("at thread end");
        const record_function range("range at thread end");
    }
};
thread_local scope_at_thread_end thread_object;

volatile std::sig_atomic_t signals = 0;
void on_signal(int) {
    COROSCOPE("in signal handler");
    signals = signals + 1;
}

void work() { COROSCOPE("interrupted"); }

// Runs `body` in a child process, because these tests are about the end of a process.
template <class Body>
int exit_code_of(Body body) {
    std::fflush(nullptr);  // else the child prints the buffer again
    const pid_t child = ::fork();
    if (child == 0) {
        body();
        std::exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_SUITE("bad use") {
    TEST_CASE("a scope in a destructor of a thread-local does not crash") {
        recording session;
        std::thread([] { thread_object.touched = true; }).join();
        std::thread([] {
            COROSCOPE("first");
            thread_object.touched = true;
        }).join();
        const recorded found = session.stop();
        CHECK(found.count("first") == 1);
        CHECK(found.count("at thread end") <= 2);
    }

    TEST_CASE("a scope in a static destructor does not crash, with a session that never stopped") {
        CHECK(exit_code_of([] {
                  static profile never_stopped({.all_threads = true});
                  work();
              }) == 0);
        CHECK(exit_code_of([] { work(); }) == 0);
    }

    TEST_CASE("a static session stops in its turn at exit: the scopes of static objects that are "
              "destroyed before it are in its trace, and later scopes are not") {
        const scratch_file file;
        CHECK(exit_code_of([&file] {
                  static const profile never_stopped({.output = file.path(), .all_threads = true});
                  static const scope_just_before goes_first;
                  work();
              }) == 0);
        auto loaded = analysis::load(std::string(file.path()));
        REQUIRE(loaded);
        CHECK(loaded->health.finished);
        CHECK_FALSE(loaded->health.lost_records());
        const recorded found(std::move(*loaded));
        CHECK(found.count("interrupted") == 1);
        CHECK(found.count("just before") == 1);
        CHECK(found.trace.events.size() == 2);
    }

    TEST_CASE("a scope in a signal handler does not crash the code that it interrupts") {
        recording session({.all_threads = true, .limit_bytes = std::size_t{1} << 22});
        work();
        on_signal(0);  // a site's first record allocates; a handler must not
        struct sigaction action{};
        action.sa_handler = on_signal;
        REQUIRE(::sigaction(SIGALRM, &action, nullptr) == 0);
        const itimerval often{{0, 200}, {0, 200}};
        REQUIRE(::setitimer(ITIMER_REAL, &often, nullptr) == 0);
        signals = 0;
        const std::clock_t end = std::clock() + 10 * CLOCKS_PER_SEC;
        while (signals < 50 && std::clock() < end) work();
        const itimerval never{};
        ::setitimer(ITIMER_REAL, &never, nullptr);
        ::signal(SIGALRM, SIG_IGN);  // a signal may be pending
        CHECK(signals >= 50);
    }
}
