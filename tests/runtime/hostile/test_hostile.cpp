// SPDX-License-Identifier: Apache-2.0

// A recorded process meets a full table, a lack of descriptors, and exec().

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "../support/session_support.hpp"
#include "hostile_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("processes") {
    TEST_CASE("without room for more places in the source, the runtime prints one line and takes "
              "no memory") {
        const program_end end = run_program({"places", "20000"});
        CHECK(end.exit_code() == 0);
        std::istringstream output(end.output);
        std::string told;
        REQUIRE(static_cast<bool>(std::getline(output, told)));
        CHECK(holds(told, "coroscope: the table of places of awaits"));
        std::size_t known = 0;
        std::size_t known_later = 0;
        std::uint64_t kib = 0;
        REQUIRE(static_cast<bool>(output >> known >> known_later >> kib));
        CHECK(known > 14'000);
        CHECK(known_later == 0);
        if (!sanitized) CHECK(kib < 1024);
    }

    TEST_CASE("a thread's first scope leaves errno as it was if no file can be opened") {
        // LeakSanitizer needs files at the end.
        CHECK(run_program({"errno"}, {{"LSAN_OPTIONS", "detect_leaks=0"}}).exit_code() == 0);
    }

    TEST_CASE("a process that executes another program begins a new, complete trace") {
        const scratch_file file;
        CHECK(run({"exec", "6"}, {{"COROSCOPE_TRACE", file.path()}}).exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 3 + 6 + 4);  // with the static object's steps around its own
    }
}
