// SPDX-License-Identifier: Apache-2.0

// Programs that the environment tells to record.

#include <csignal>
#include <filesystem>

#include <coroscope/detail/task_state.hpp>

#include "program_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

variables trace_to(const scratch_file& file, variables more = {}) {
    more.emplace_back("COROSCOPE_TRACE", file.path());
    return more;
}

}  // namespace

TEST_SUITE("environment") {
    TEST_CASE(
        "COROSCOPE_TRACE records the whole process and leaves its exit code and output alone") {
        const scratch_file file;
        const program_end end = run_program({"steps", "12", "3"}, trace_to(file));
        CHECK(end.exit_code() == 3);
        CHECK(end.output.empty());
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(trace.all_threads);
        CHECK(trace.process_id == static_cast<std::uint32_t>(end.id));
        CHECK(trace.policy == "drop newest");
        REQUIRE(trace.threads.size() == 1);
        CHECK(steps_by_thread(trace)[0] == "012340123401");
    }

    TEST_CASE("without it, or with an empty one, nothing is recorded") {
        const scratch_file file;
        CHECK(run_program({"steps", "5", "0"}, {{"COROSCOPE_TRACE", ""}}).exit_code() == 0);
        CHECK_FALSE(std::filesystem::exists(file.path()));
    }

    TEST_CASE("policy and limit are the environment's") {
        const scratch_file file;
        const std::string limit = std::to_string(1 << 20);
        run_program({"steps", "200000", "0"}, trace_to(file, {{"COROSCOPE_POLICY", "overwrite"},
                                                              {"COROSCOPE_LIMIT", limit}}));
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.policy == "overwrite oldest");
        CHECK(std::filesystem::file_size(file.path()) <= 1 << 20);
        CHECK(trace.health.overwritten > 0);
        CHECK(count_steps(trace) + trace.health.overwritten + trace.health.dropped_newest ==
              200'000);
        run_program({"steps", "200000", "0"},
                    trace_to(file, {{"COROSCOPE_POLICY", "wait"}, {"COROSCOPE_LIMIT", limit}}));
        CHECK(load(std::string(file.path())).policy == "wait");
    }

    TEST_CASE("a limit may be told in K, M and G, which are powers of two") {
        for (const char* limit : {"1048576", "1024K", "1M"}) {
            const scratch_file file;
            const program_end end =
                run_program({"steps", "200000", "0"}, trace_to(file, {{"COROSCOPE_LIMIT", limit}}));
            CHECK(end.output.empty());
            CHECK(std::filesystem::file_size(file.path()) <= 1 << 20);
            CHECK(load(std::string(file.path())).health.dropped_newest > 0);
        }
        const scratch_file file;
        CHECK(run_program({"steps", "5", "0"}, trace_to(file, {{"COROSCOPE_LIMIT", "1G"}}))
                  .output.empty());
        CHECK(count_steps(load(std::string(file.path()))) == 5);
    }

    TEST_CASE("a limit that is no size is not guessed at, and one line says so") {
        for (const char* limit :
             {"-1", "1X", "64MB", "M", "0", " 1M", "18446744073709551616", "99999999999G"}) {
            const scratch_file file;
            const program_end end =
                run_program({"steps", "5", "0"}, trace_to(file, {{"COROSCOPE_LIMIT", limit}}));
            CHECK(end.exit_code() == 0);
            CHECK(end.output == std::string("coroscope: COROSCOPE_LIMIT is a number of bytes, or "
                                            "one of K, M or G (64M); 1G is used instead of ") +
                                    limit + "\n");
            CHECK(count_steps(load(std::string(file.path()))) == 5);
        }
    }

    TEST_CASE("a policy that is none is not guessed at, and one line says so") {
        const scratch_file file;
        const program_end end =
            run_program({"steps", "5", "0"}, trace_to(file, {{"COROSCOPE_POLICY", "overwite"}}));
        CHECK(end.exit_code() == 0);
        CHECK(end.output == "coroscope: COROSCOPE_POLICY is drop, overwrite or wait; drop is used "
                            "instead of overwite\n");
        CHECK(load(std::string(file.path())).policy == "drop newest");
        CHECK(run_program(
                  {"steps", "5", "0"},
                  trace_to(scratch_file(), {{"COROSCOPE_POLICY", "drop"}, {"COROSCOPE_LIMIT", ""}}))
                  .output.empty());
    }

    TEST_CASE("arguments are captured when the environment asks") {
        const scratch_file file;
        for (const bool asked : {false, true}) {
            run_program({"arguments"},
                        trace_to(file, {{"COROSCOPE_ARGUMENTS", asked ? "1" : "0"}}));
            const analysis::trace trace = load(std::string(file.path()));
            const analysis::event* event = find(trace, "with arguments");
            REQUIRE(event != nullptr);
            const bool captured = event->detail != analysis::none &&
                                  trace.details[event->detail].arguments != analysis::none;
            CHECK(captured == asked);
            if (captured)
                CHECK(trace.strings[trace.details[event->detail].arguments].find("42") !=
                      std::string::npos);
        }
    }

    TEST_CASE("what else is recorded is what the environment asks for") {
        const scratch_file file;
        const std::pair<const char*, std::uint64_t> features[] = {
            {"COROSCOPE_SHAPES", trace::feature_shapes},
            {"COROSCOPE_FLOPS", trace::feature_flops | trace::feature_shapes},
            {"COROSCOPE_MEMORY", trace::feature_memory},
            {"COROSCOPE_STACKS", trace::feature_stacks},
            {"COROSCOPE_MODULES", trace::feature_modules},
        };
        for (const auto& [variable, feature] : features) {
            CAPTURE(variable);
            run_program({"steps", "2", "0"}, trace_to(file, {{variable, "1"}}));
            CHECK(load(std::string(file.path())).asked_for == feature);
            run_program({"steps", "2", "0"}, trace_to(file, {{variable, "yes"}}));
            CHECK(load(std::string(file.path())).asked_for == 0);
        }
    }

    TEST_CASE("it wins over a session in the code, which is refused") {
        const scratch_file file;
        const program_end end = run_program({"session"}, trace_to(file));
        CHECK(end.output == "2 Profiler is already enabled on this thread.\n");
        CHECK(count_steps(load(std::string(file.path()))) == 4);
    }

    TEST_CASE("a path that cannot be written changes nothing for the program") {
        const program_end end =
            run_program({"steps", "5", "9"}, {{"COROSCOPE_TRACE", "/proc/none/trace.cst"}});
        CHECK(end.exit_code() == 9);
        CHECK(end.output.empty());
        const std::string endless(5000, 'x');
        CHECK(run_program({"steps", "5", "9"}, {{"COROSCOPE_TRACE", endless}}).exit_code() == 9);
        // The session in the code takes the place.
        CHECK(run_program({"session"}, {{"COROSCOPE_TRACE", "/proc/none/trace.cst"}}).output ==
              "1 \n");
    }

    TEST_CASE("a child program that inherits it writes a file of its own") {
        const scratch_file file;
        const program_end end = run_program({"spawn"}, trace_to(file));
        CHECK(end.exit_code() == 0);
        const std::string inherited =
            std::string(file.path()) + "." + std::to_string(std::stol(end.output));
        CHECK(count_steps(load(inherited)) == 7);
        CHECK(count_steps(load(std::string(file.path()))) == 2);
        std::filesystem::remove(inherited);
    }

    TEST_CASE("a forked copy is not recorded and leaves the file to its parent") {
        const scratch_file file;
        CHECK(run_program({"fork", "6"}, trace_to(file)).exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(count_steps(trace) == 8);
        CHECK(trace.health.finished);
    }

    TEST_CASE("_exit leaves all that was recorded") {
        const scratch_file file;
        CHECK(run_program({"_exit", "11"}, trace_to(file)).exit_code() == 5);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK_FALSE(trace.health.finished);
        CHECK(count_steps(trace) == 11);
    }

    TEST_CASE("an exception that leaves main leaves all that was recorded") {
        const scratch_file file;
        const program_end end = run_program({"throw", "11"}, trace_to(file));
        CHECK(end.signal() == SIGABRT);
        CHECK(count_steps(load(std::string(file.path()))) == 11);
    }

    TEST_CASE("threads that record while the process ends hurt neither it nor the trace") {
        for (int run = 0; run < 10; ++run) {
            const scratch_file file;
            const program_end end = run_program({"detached"}, trace_to(file));
            CHECK(end.exit_code() == 0);
            const analysis::trace trace = load(std::string(file.path()));
            CHECK(trace.health.finished);
            if (trace.health.dropped_newest != 0) continue;
            for (const std::string& digits : steps_by_thread(trace))
                CHECK(is_whole_sequence(digits));
        }
    }

    TEST_CASE("by CLOCK_MONOTONIC a trace says the same as by the processor's counter") {
        for (const char* clock : {"counter", "monotonic"}) {
            const scratch_file file;
            REQUIRE(
                run_program({"sleep"}, trace_to(file, {{"COROSCOPE_CLOCK", clock}})).exit_code() ==
                0);
            const analysis::trace trace = load(std::string(file.path()));
            CHECK((trace.clock == "monotonic") >= (std::string(clock) == "monotonic"));
            CHECK(count_steps(trace) == 5);
            CHECK(count(trace, "task scope") == 1);
            const analysis::event* event = find(trace, "50 ms");
            REQUIRE(event != nullptr);
            CHECK(event->start_ns > 0);
            CHECK(event->end_ns <= trace.duration_ns);
            CHECK(event->end_ns - event->start_ns >= 49'900'000);
            CHECK(event->end_ns - event->start_ns < trace.duration_ns);
            CHECK(trace.tasks.size() >= 1);
            CHECK(trace.scope_cost_ns > 0);
            for (const analysis::event& each : trace.events) {
                CHECK(each.start_ns >= 0);
                CHECK(each.end_ns >= each.start_ns);
            }
        }
    }

    TEST_CASE("where another library is loaded in the place of one that is gone, the next session "
              "knows it") {
        // What std::source_location points to, as both standard libraries have it.
        struct place {
            const char* file;
            const char* function;
            std::uint32_t line;
            std::uint32_t column;
        };
        place in_library{"first.cpp", "void first()", 7, 1};
        profile session;
        const std::uint32_t first = detail::await_site_id(&in_library);
        CHECK(detail::await_site_id(&in_library) == first);
        session.stop();
        in_library = {"second.cpp", "void second()", 7, 1};
        profile next;
        const std::uint32_t second = detail::await_site_id(&in_library);
        CHECK(second != first);
        CHECK(detail::await_site_id(&in_library) == second);
        const analysis::trace trace = load(next.stop());
        std::size_t found = 0;
        for (const analysis::site_info& site : trace.sites)
            found += site.label == "co_await in second" && site.file == "second.cpp" ? 1U : 0U;
        CHECK(found == 1);
    }

    TEST_CASE("scopes of a library keep their names after it is unloaded") {
        const scratch_file file;
        const program_end end = run_program({"unload", UNLOADED_LIBRARY}, trace_to(file));
        CHECK(end.exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(count(trace, "in a library") == 6);
        CHECK(count_steps(trace) == 5);
    }
}
