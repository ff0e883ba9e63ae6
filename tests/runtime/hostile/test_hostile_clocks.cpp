// SPDX-License-Identifier: Apache-2.0

// Clocks that are stepped, or may not be read.

#include <string>

#include "../../support/skip.hpp"
#include "../support/session_support.hpp"
#include "hostile_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("clocks") {
    TEST_CASE("if the process may not read the processor's counter, a session is refused and the "
              "runtime never reads the counter") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reads the clock itself");
            return;
        }
        const program_end end = run_program({"counter"});
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, "may not read the processor's counter (PR_SET_TSC)."));
    }

    TEST_CASE("a thread that may not read the counter is reported once and left alone, others are "
              "recorded") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reads the clock itself");
            return;
        }
        const scratch_file file;
        const program_end end = run_program({"counter of a thread", file.path()});
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, "coroscope: a thread that may not read the processor's counter"));
        CHECK(count_steps(load(std::string(file.path()))) == 5);
    }

    TEST_CASE("the cost of recording is given in the ticks of the session's clock") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer's library has to come first");
            return;
        }
        const scratch_file file;
        run_program({"steps", "5", "0"}, {{"COROSCOPE_TRACE", file.path()},
                                          {"COROSCOPE_CLOCK", "monotonic"},
                                          {"STEPPING_CLOCK", "counting"},
                                          {"LD_PRELOAD", STEPPING_CLOCK}});
        const analysis::trace trace = load(std::string(file.path()));
        // A scope reads the clock twice, an await at least as often, and each reading takes a microsecond.
        CHECK(trace.scope_cost_ns >= 2000);
        CHECK(trace.scope_cost_ns < 2100);
        CHECK(trace.await_cost_ns >= 2000);
    }

    TEST_CASE("clocks that are set back and forth change no duration, and break no trace") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer's library has to come first");
            return;
        }
        for (const char* stepped : {"realtime", "monotonic"}) {
            for (const char* clock : {"counter", "monotonic"}) {
                CAPTURE(std::string(stepped));
                CAPTURE(std::string(clock));
                const scratch_file file;
                const program_end end = run_program({"sleep"}, {{"COROSCOPE_TRACE", file.path()},
                                                                {"COROSCOPE_CLOCK", clock},
                                                                {"STEPPING_CLOCK", stepped},
                                                                {"LD_PRELOAD", STEPPING_CLOCK}});
                CHECK(end.exit_code() == 0);
                const auto loaded = analysis::load(std::string(file.path()));
                REQUIRE(loaded);
                const analysis::trace& trace = *loaded;
                CHECK(count_steps(trace) == 5);
                const analysis::event* event = find(trace, "50 ms");
                REQUIRE(event != nullptr);
                CHECK(event->end_ns >= event->start_ns);
                if (std::string(stepped) != "realtime") continue;  // no system steps it
                CHECK(trace.health.warnings.empty());
                CHECK(event->end_ns - event->start_ns >= 49'900'000);
                CHECK(event->end_ns - event->start_ns <= trace.duration_ns);
                CHECK(trace.duration_ns < std::int64_t{1800} * 1'000'000'000);  // half a step
            }
        }
    }
}
