// SPDX-License-Identifier: Apache-2.0

// A session whose file was cut counts each lost record, from the moment at which its status reports
// the cut.

#include <cstdint>
#include <string>

#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope::test;

namespace {

std::uint64_t number_behind(const std::string& output, const std::string& text) {
    const std::size_t at = output.find(text);
    REQUIRE(at != std::string::npos);
    return std::stoull(output.substr(at + text.size()));
}

}  // namespace

TEST_SUITE("sessions whose file is cut") {
    TEST_CASE("after status() reports the cut each record is counted as lost, although a thread's "
              "chunk has room") {
        const scratch_file file;
        const program_end end = run_program({file.path(), "8000000", "1000"}, {}, CUT_PROGRAM);
        REQUIRE(end.exit_code() == 0);
        CHECK(end.output == "before: 0\n"
                            "told of: 0\n"
                            "one step later: 1\n"
                            "100,000 later: 100001\n"
                            "20 of another thread later: 100021\n"
                            "3,000 of a new thread later: 103021\n"
                            "stopped: 103021\n");
    }

    TEST_CASE("records that were counted as lost before the file is cut stay counted") {
        const scratch_file file;
        const program_end end = run_program({file.path(), "1000000", "500000"}, {}, CUT_PROGRAM);
        REQUIRE(end.exit_code() == 0);
        const std::uint64_t before = number_behind(end.output, "before: ");
        CHECK(before > 400'000);
        CHECK(number_behind(end.output, "\ntold of: ") == before);
        CHECK(number_behind(end.output, "\nstopped: ") == before + 103'021);
    }
}
