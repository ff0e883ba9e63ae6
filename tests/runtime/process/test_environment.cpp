// SPDX-License-Identifier: Apache-2.0

// Programs that are recorded because of their environment.

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <coroscope/detail/task_state.hpp>

#include <sys/resource.h>

#include "../../support/skip.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

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

    TEST_CASE("without COROSCOPE_TRACE, or with an empty one, nothing is recorded") {
        const scratch_file file;
        CHECK(run_program({"steps", "5", "0"}, {{"COROSCOPE_TRACE", ""}}).exit_code() == 0);
        CHECK_FALSE(std::filesystem::exists(file.path()));
    }

    TEST_CASE("the environment sets the policy and the limit") {
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

    TEST_CASE("a limit may be given in K, M and G, which are powers of two") {
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

    TEST_CASE("a limit that is no size is not guessed at, and one line reports it") {
        for (const char* limit :
             {"-1", "1X", "64MB", "M", "0", " 1M", "18446744073709551616", "99999999999G"}) {
            const scratch_file file;
            const program_end end =
                run_program({"steps", "5", "0"}, trace_to(file, {{"COROSCOPE_LIMIT", limit}}));
            CHECK(end.exit_code() == 0);
            CHECK(end.output ==
                  std::string("coroscope: COROSCOPE_LIMIT is a number of bytes, or "
                              "one of K, M or G (64M); the default is used instead of ") +
                      limit + "\n");
            CHECK(count_steps(load(std::string(file.path()))) == 5);
        }
    }

    TEST_CASE("an unknown policy is not guessed at, and one line reports it") {
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

    TEST_CASE("arguments are captured if the environment asks for them") {
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

    TEST_CASE("a variable with the value 1 turns on its feature, and another value does not") {
        const scratch_file file;
        const std::pair<const char*, std::uint64_t> features[] = {
            {"COROSCOPE_SHAPES", trace::feature_shapes},
            {"COROSCOPE_FLOPS", trace::feature_flops | trace::feature_shapes},
            {"COROSCOPE_MEMORY", trace::feature_memory},
            {"COROSCOPE_STACKS", trace::feature_stacks},
            {"COROSCOPE_MODULES", trace::feature_modules},
            {"COROSCOPE_ARGUMENTS", trace::feature_arguments},
        };
        for (const auto& [variable, feature] : features) {
            CAPTURE(variable);
            run_program({"steps", "2", "0"}, trace_to(file, {{variable, "1"}}));
            CHECK(load(std::string(file.path())).asked_for == feature);
            run_program({"steps", "2", "0"}, trace_to(file, {{variable, "yes"}}));
            CHECK(load(std::string(file.path())).asked_for == 0);
        }
    }

    TEST_CASE("one line gives the reason why a feature has no data, and the program ends as "
              "without the feature") {
        const std::pair<const char*, const char*> lines[] = {
            {"COROSCOPE_ARGUMENTS", "no scope has any; begin scopes with COROSCOPE_ARGS"},
            {"COROSCOPE_SHAPES", "no scope has arguments; begin scopes with COROSCOPE_ARGS"},
            {"COROSCOPE_FLOPS", "no scope has arguments; begin scopes with COROSCOPE_ARGS"},
            {"COROSCOPE_MEMORY", "no allocation was reported; link coroscope-memory-hook, or use "
                                 "coroscope::memory_resource"},
            {"COROSCOPE_MODULES", "no module was entered; use coroscope::module_guard"},
        };
        std::string all;
        variables every;
        for (const auto& [variable, reason] : lines) {
            const scratch_file file;
            const program_end end =
                run_program({"steps", "2", "7"}, trace_to(file, {{variable, "1"}}));
            CHECK(end.exit_code() == 7);
            const std::string line = std::string(variable) + ": " + reason + '\n';
            CHECK(end.output == "coroscope: not all is recorded: " + line);
            if (std::string_view(variable) != "COROSCOPE_SHAPES") all += end.output;
            every.emplace_back(variable, "1");
        }
        const scratch_file file;
        CHECK(run_program({"steps", "2", "7"}, trace_to(file, every)).output == all);
    }

    TEST_CASE("a feature that has data is not said to have none, whether the program ends in order "
              "or is killed") {
        for (const bool killed : {false, true}) {
            const scratch_file file;
            std::vector<std::string> words{"arguments"};
            if (killed) words.emplace_back("killed");
            const program_end end = run_program(
                words, trace_to(file, {{"COROSCOPE_ARGUMENTS", "1"}, {"COROSCOPE_MEMORY", "1"}}));
            CHECK(end.output.find("ARGUMENTS") == std::string::npos);
            const analysis::trace_health health = load(std::string(file.path())).health;
            CHECK(health.without_data == trace::feature_memory);
            CHECK(health.with_data == trace::feature_arguments);
        }
    }

    TEST_CASE("the environment's session wins over a session in the code, whose status names the "
              "trace that is written") {
        const scratch_file file;
        const program_end end = run_program({"session"}, trace_to(file));
        CHECK(end.output ==
              "2 Profiler is already enabled on this thread: coroscope run or COROSCOPE_TRACE "
              "records the process into " +
                  std::string(file.path()) + ".\n");
        CHECK(count_steps(load(std::string(file.path()))) == 4);
    }

    TEST_CASE("a path that cannot be written is reported, and the program runs as before") {
        const program_end end =
            run_program({"steps", "5", "9"}, {{"COROSCOPE_TRACE", "/none/trace.cst"}});
        CHECK(end.exit_code() == 9);
        CHECK(end.output ==
              "coroscope: nothing is recorded: The folder of the trace file does not exist: make "
              "it. (No such file or directory) COROSCOPE_TRACE=/none/trace.cst\n");
        const program_end endless =
            run_program({"steps", "5", "9"}, {{"COROSCOPE_TRACE", std::string(5000, 'x')}});
        CHECK(endless.exit_code() == 9);
        CHECK(endless.output ==
              "coroscope: nothing is recorded: The path in COROSCOPE_TRACE is too long.\n");
        // The session in the code records instead.
        CHECK(run_program({"session"}, {{"COROSCOPE_TRACE", "/none/trace.cst"}})
                  .output.ends_with("\n1 \n"));
    }

    TEST_CASE("one line gives the reason why nothing is recorded, and the remedy") {
        const scratch_file file;
        const auto lines = [&](const variables& more, void (*at_last)() = nullptr) {
            const program_end end =
                run_program({"steps", "5", "9"}, trace_to(file, more), program_path(), at_last);
            CHECK(end.exit_code() == 9);
            CHECK_FALSE(std::filesystem::exists(file.path()));
            CHECK(std::ranges::count(end.output, '\n') == 1);
            return end.output;
        };
        CHECK(lines({{"COROSCOPE_LIMIT", "64K"}})
                  .starts_with("coroscope: nothing is recorded: The limit leaves no room for a "
                               "trace: give 1 MiB or more. "));
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer needs more address space");
            return;
        }
        const auto bound_memory = [] {
            const rlimit bound{400'000'000, 400'000'000};
            ::setrlimit(RLIMIT_AS, &bound);
        };
        CHECK(lines({{"COROSCOPE_LIMIT", "1G"}}, bound_memory)
                  .starts_with("coroscope: nothing is recorded: There is no address space for the "
                               "trace: lower its limit or raise ulimit -v. "));
    }

    TEST_CASE("a switch that is neither 1 nor 0 is off, and one line reports it") {
        for (const char* variable : {"COROSCOPE_ARGUMENTS", "COROSCOPE_SHAPES", "COROSCOPE_FLOPS",
                                     "COROSCOPE_MEMORY", "COROSCOPE_STACKS", "COROSCOPE_MODULES",
                                     "COROSCOPE_CRASH", "COROSCOPE_LIVE", "COROSCOPE_ANOMALY"}) {
            const scratch_file file;
            const program_end end =
                run_program({"steps", "5", "0"}, trace_to(file, {{variable, "true"}}));
            CHECK(end.output == std::string("coroscope: ") + variable +
                                    " is 1 or 0; 0 is used instead of true\n");
            CHECK(load(std::string(file.path())).asked_for == 0);
            for (const char* right : {"", "0"})
                CHECK(run_program({"steps", "5", "0"}, trace_to(file, {{variable, right}}))
                          .output.empty());
        }
    }

    TEST_CASE("an unknown clock, and a switch for probes that is neither 1 nor 0, are reported") {
        const auto line_of = [](const char* variable, const char* value) {
            return run_program({"steps", "5", "0"}, {{variable, value}}).output;
        };
        CHECK(line_of("COROSCOPE_CLOCK", "nosuch") ==
              "coroscope: COROSCOPE_CLOCK is monotonic or empty; the clock is chosen by Coroscope "
              "instead of by nosuch\n");
        CHECK(line_of("COROSCOPE_USDT", "yes") ==
              "coroscope: COROSCOPE_USDT is 1 or 0; 0 is used instead of yes\n");
        for (const char* variable : {"COROSCOPE_CLOCK", "COROSCOPE_USDT"})
            CHECK(line_of(variable, "").empty());
        CHECK(line_of("COROSCOPE_CLOCK", "monotonic").empty());
        CHECK(line_of("COROSCOPE_USDT", "0").empty());
    }

    TEST_CASE("a short recording has a short file, whether its process returns from main or calls "
              "_exit") {
        constexpr std::uint64_t most = (1 << 20) + 2 * 32768;  // a megabyte, and two chunks
        for (const char* mode : {"steps", "_exit"}) {
            const scratch_file file;
            run_program({mode, "61", "0"}, trace_to(file));
            CHECK(count_steps(load(std::string(file.path()))) == 61);
            CHECK(std::filesystem::file_size(file.path()) <= most);
        }
    }

    TEST_CASE("an unknown device is reported") {
        const scratch_file file;
        CHECK(
            run_program({"steps", "5", "0"}, trace_to(file, {{"COROSCOPE_DEVICE", "abacus"}}))
                .output.starts_with("coroscope: not all is recorded: Devices are not recorded: "));
    }

    TEST_CASE("a process that ends by _exit leaves all its records") {
        const scratch_file file;
        CHECK(run_program({"_exit", "11"}, trace_to(file)).exit_code() == 5);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK_FALSE(trace.health.finished);
        CHECK(count_steps(trace) == 11);
    }

    TEST_CASE("a process that ends by an exception through main leaves all its records") {
        const scratch_file file;
        const program_end end = run_program({"throw", "11"}, trace_to(file));
        CHECK(end.signal() == SIGABRT);
        CHECK(count_steps(load(std::string(file.path()))) == 11);
    }

    TEST_CASE("threads that record while the process ends harm neither the process nor the trace") {
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

    TEST_CASE("a trace by CLOCK_MONOTONIC agrees with one by the processor's counter") {
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

    TEST_CASE("if a library is loaded at the address of an unloaded one, the next session uses the "
              "new names") {
        // The data behind a std::source_location; its layout is the same in both standard
        // libraries.
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
