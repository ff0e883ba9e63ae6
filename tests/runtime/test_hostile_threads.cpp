// SPDX-License-Identifier: Apache-2.0

// Threads that end otherwise than by returning.

#include <string>

#include "../support/skip.hpp"
#include "hostile_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

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
        CHECK(count_steps(trace) == 3 + 100 + 4);  // the static object's around them
    }

    TEST_CASE("a thread that is to be cancelled starts and stops a session, prints what the "
              "runtime has to say, and is cancelled then") {
        const scratch_file file;
        const program_end end = run({"cancelled", file.path()});
        CHECK(end.signal() == 0);
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, " failed with std::runtime_error: as it should"));
        CHECK(count_steps(load(std::string(file.path()))) == 5);
    }
}
