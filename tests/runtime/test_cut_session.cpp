// SPDX-License-Identifier: Apache-2.0

// What a session loses whose file was cut is counted to the record, from the moment that it tells of it.

#include <string>

#include "program_runs.hpp"
#include "session_support.hpp"

using namespace coroscope::test;

TEST_SUITE("sessions whose file is cut") {
    TEST_CASE(
        "each record is counted as lost once status() tells of the cut, also where a thread's "
        "chunk has room") {
        const scratch_file file;
        const program_end end = run_program({file.path()}, {}, CUT_PROGRAM);
        REQUIRE(end.exit_code() == 0);
        CHECK(end.output == "told of: 0\n"
                            "one step later: 1\n"
                            "100,000 later: 100001\n"
                            "20 of another thread later: 100021\n"
                            "3,000 of a new thread later: 103021\n"
                            "stopped: 103021\n");
    }
}
