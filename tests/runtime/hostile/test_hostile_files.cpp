// SPDX-License-Identifier: Apache-2.0

// Others change the trace file or its descriptor: the process goes on, and the session reports the
// loss.

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>

#include "../../support/skip.hpp"
#include "../support/session_support.hpp"
#include "hostile_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("the trace file in other hands") {
    TEST_CASE("a file that is cut while no thread records costs the trace, not the process") {
        const scratch_file file;
        const program_end end = run({"cut", file.path()});
        CHECK(end.signal() == 0);
        CHECK(end.exit_code() == 0);
        CHECK(end.output ==
              "3 " + std::to_string(ESTALE) +
                  " Another process cut the trace file: all later records are lost.\n");
        CHECK(std::filesystem::file_size(file.path()) == 8192);
    }

    TEST_CASE("a file may be cut while four threads record, with and without crash reports") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has the signals");
            return;
        }
        for (int round = 0; round < 10; ++round) {
            const scratch_file file;
            const std::string descriptor = round % 2 == 0 ? "-1" : "2";
            CAPTURE(descriptor);
            const program_end end = run({"cut while recording", file.path(), descriptor});
            CHECK(end.signal() == 0);
            CHECK(holds(end.output,
                        "3 " + std::to_string(ESTALE) + " Another process cut the trace file"));
            CHECK_FALSE(holds(end.output, "coroscope: signal"));
        }
    }

    TEST_CASE("a thread that gets the signal of its fault after the stop of a cut session goes on, "
              "and a fault of the program's own ends it") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has the signals");
            return;
        }
        const scratch_file file;
        const program_end end = run({"late faults", file.path(), file.folder() + "/own"});
        CHECK(end.output == "goes on\n");
        CHECK(end.signal() == SIGBUS);
    }

    TEST_CASE("a file that is cut just before the stop is left as it is") {
        const scratch_file file;
        CHECK(run({"cut at the stop", file.path()}).exit_code() == 0);
        CHECK(std::filesystem::file_size(file.path()) == 8192);
    }

    TEST_CASE("the remaining records of a cut file are loaded, with a warning") {
        const scratch_file file;
        run({"cut", file.path()});
        auto loaded = analysis::load(std::string(file.path()));
        REQUIRE(loaded);
        CHECK_FALSE(loaded->health.warnings.empty());
    }

    TEST_CASE("a file that is removed is reported") {
        const scratch_file file;
        CHECK(run({"remove", file.path()}).output ==
              "3 " + std::to_string(ENOENT) +
                  " The trace file was removed: its records are lost.\n");
    }

    TEST_CASE("a program that closes the trace's descriptor may use its number, and the trace "
              "keeps the records that it has room for") {
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
