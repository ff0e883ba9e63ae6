// SPDX-License-Identifier: Apache-2.0

// Work that is divided among threads.

#include <barrier>
#include <csignal>
#include <thread>

#include <coroscope/trace/jobs.hpp>
#include <doctest/doctest.h>

using namespace coroscope;

namespace {

bool is_blocked(const sigset_t& mask, int number) { return ::sigismember(&mask, number) == 1; }

sigset_t mask_of_this_thread() {
    sigset_t mask;
    REQUIRE(::pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0);
    return mask;
}

}  // namespace

TEST_SUITE("jobs") {
    TEST_CASE("the program's signals stay on the program's threads, except for faults") {
        const std::thread::id caller = std::this_thread::get_id();
        std::barrier both(2);  // so that the other thread has a part, too
        trace::in_parallel(2, 2, [&](std::size_t) {
            both.arrive_and_wait();
            const sigset_t mask = mask_of_this_thread();
            const bool blocks = std::this_thread::get_id() != caller;
            for (const int number : {SIGALRM, SIGTERM, SIGINT, SIGPROF, SIGUSR1})
                CHECK(is_blocked(mask, number) == blocks);
            for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
                CHECK_FALSE(is_blocked(mask, fault));
        });
        CHECK_FALSE(is_blocked(mask_of_this_thread(), SIGALRM));
    }
}
