// SPDX-License-Identifier: Apache-2.0

// Threads that end by pthread_exit() or by cancellation, and real-time threads.

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "../../support/skip.hpp"
#include "../support/session_support.hpp"
#include "hostile_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

std::vector<int> policies_of_threads_named(const std::string& name) {
    std::vector<int> policies;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string its_name;
        std::getline(std::ifstream(each.path() / "comm"), its_name);
        if (its_name == name)
            policies.push_back(::sched_getscheduler(std::stoi(each.path().filename())));
    }
    return policies;
}

}  // namespace

TEST_SUITE("threads") {
    TEST_CASE("a program whose main thread ends by pthread_exit() ends with its last thread, by "
              "exit()") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer may have a thread of its own");
            return;
        }
        const scratch_file file;
        const program_end end = run({"pthread_exit"}, {{"COROSCOPE_TRACE", file.path()}});
        CHECK(end.exit_code() == 0);
        CHECK(end.output == "at exit\n");
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 3 + 100 + 4);  // with the static object's steps around them
    }

    TEST_CASE("a thread with a pending cancellation starts and stops a session, prints the "
              "runtime's messages, and is cancelled afterwards") {
        const scratch_file file;
        const program_end end = run({"cancelled", file.path()});
        CHECK(end.signal() == 0);
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, " failed with std::runtime_error: as it should"));
        CHECK(count_steps(load(std::string(file.path()))) == 5);
    }

    TEST_CASE("the recorder's thread has no real-time priority, though a real-time thread starts "
              "the session") {
        bool allowed = false;
        std::vector<int> policies;
        std::thread([&] {
            const sched_param lowest{.sched_priority = ::sched_get_priority_min(SCHED_FIFO)};
            allowed = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &lowest) == 0;
            profile session;
            policies = policies_of_threads_named("coroscope");
        }).join();
        if (!allowed) {
            COROSCOPE_SKIP("no thread may be a real-time one here");
            return;
        }
        CHECK(policies == std::vector<int>{SCHED_OTHER});
    }
}
