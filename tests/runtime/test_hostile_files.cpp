// SPDX-License-Identifier: Apache-2.0

// The trace file, and its descriptor, in other hands: the process goes on, and what is lost is told of.

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>

#include "../support/skip.hpp"
#include "hostile_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("the trace file in other hands") {
    TEST_CASE("a file that is cut while nobody records costs the trace, not the process") {
        const scratch_file file;
        const program_end end = run({"cut", file.path()});
        CHECK(end.signal() == 0);
        CHECK(end.exit_code() == 0);
        CHECK(end.output ==
              "3 " + std::to_string(ESTALE) +
                  " The trace file was cut by somebody else: what follows is lost.\n");
        CHECK(std::filesystem::file_size(file.path()) == 8192);
    }

    TEST_CASE("where crashes are reported it may be cut under four threads that record") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has the signals");
            return;
        }
        for (int round = 0; round < 10; ++round) {
            const scratch_file file;
            const program_end end = run({"cut while recording", file.path()});
            CHECK(end.signal() == 0);
            CHECK(holds(end.output, "3 " + std::to_string(ESTALE) + " The trace file was cut"));
            CHECK_FALSE(holds(end.output, "coroscope: signal"));
        }
    }

    TEST_CASE("a file that is cut just before the stop is left as it is") {
        const scratch_file file;
        CHECK(run({"cut at the stop", file.path()}).exit_code() == 0);
        CHECK(std::filesystem::file_size(file.path()) == 8192);
    }

    TEST_CASE("what a cut file still holds is read") {
        const scratch_file file;
        run({"cut", file.path()});
        auto loaded = analysis::load(std::string(file.path()));
        REQUIRE(loaded);
        CHECK_FALSE(loaded->health.warnings.empty());
    }

    TEST_CASE("a file that is removed is told of") {
        const scratch_file file;
        CHECK(run({"remove", file.path()}).output ==
              "3 " + std::to_string(ENOENT) +
                  " The trace file was removed: what is recorded is lost.\n");
    }

    TEST_CASE(
        "a program that closes its descriptor has the number for itself, and the trace what it "
        "had room for") {
        const scratch_file file;
        const std::string log = file.folder() + "/log";
        const program_end end = run({"close its descriptor", file.path(), log});
        REQUIRE(end.exit_code() == 0);
        std::istringstream output(end.output);
        std::uint64_t lost = 0;
        REQUIRE(static_cast<bool>(output >> lost));
        CHECK(lost > 0);
        CHECK(holds(end.output, "3 " + std::to_string(EBADF) +
                                    " The program closed the trace file's descriptor: "));
        CHECK(std::filesystem::file_size(log) == 10);
        std::filesystem::remove(log);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(trace.health.write_error == EBADF);
        CHECK(count_steps(trace) > 1000);
        CHECK(count_steps(trace) + lost == 501'000);
    }
}
