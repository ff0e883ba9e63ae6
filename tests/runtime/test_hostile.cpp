// SPDX-License-Identifier: Apache-2.0

// What a system does to a process that records: tables that are full, another program.

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "hostile_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("processes") {
    TEST_CASE("where there is no room for more places in the source, that is said once and takes "
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

    TEST_CASE("a thread's first scope leaves errno as it was where no file can be opened") {
        // The leaks' search at the end would need files.
        CHECK(run_program({"errno"}, {{"LSAN_OPTIONS", "detect_leaks=0"}}).exit_code() == 0);
    }

    TEST_CASE("a process that becomes another program begins its trace anew, and whole") {
        const scratch_file file;
        CHECK(run({"exec", "6"}, {{"COROSCOPE_TRACE", file.path()}}).exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 3 + 6 + 4);  // the static object's around its own
    }
}
