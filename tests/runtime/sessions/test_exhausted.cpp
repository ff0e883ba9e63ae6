// SPDX-License-Identifier: Apache-2.0

// Each record that is lost for lack of memory is counted.

#include <sstream>

#include "../../support/skip.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("exhausted memory") {
    TEST_CASE("each record of a thread that cannot be registered for lack of memory is counted, "
              "and another thread loses none") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        COROSCOPE_SKIP("a sanitizer reserves more than the limit");
#else
        const scratch_file file;
        const program_end end = run_program({file.path()}, {}, EXHAUSTED_PROGRAM);
        REQUIRE(end.exit_code() == 0);
        std::istringstream output(end.output);
        std::uint64_t lost = 0;
        std::uint64_t lost_in_the_end = 0;
        REQUIRE(static_cast<bool>(output >> lost >> lost_in_the_end));
        CHECK(lost == 11);
        CHECK(lost_in_the_end == 11);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(trace.health.dropped_newest == 11);
        REQUIRE(trace.threads.size() == 1);
        CHECK(count_steps(trace) == 2000);
        CHECK(trace.events.size() == 2000);
#endif
    }
}
