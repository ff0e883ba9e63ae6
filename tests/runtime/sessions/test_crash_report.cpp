// SPDX-License-Identifier: Apache-2.0

// A fatal signal is reported with the async stack of its thread, and the process ends as without
// the report.

#include <csignal>
#include <filesystem>
#include <string>

#include <sys/resource.h>

#include "../../support/skip.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

// AddressSanitizer has handlers of its own, which end the process differently. ThreadSanitizer
// replaces sigaction().
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

TEST_CASE("fatal signals are reported") { COROSCOPE_SKIP("a sanitizer has the signals"); }

#else

namespace {

constexpr int all_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

program_end run(const std::string& mode, int number = SIGSEGV, const std::string& trace = {},
                const variables& environment = {}) {
    std::vector<std::string> words{mode, std::to_string(number)};
    if (!trace.empty()) words.push_back(trace);
    return run_program(words, environment, FATAL_PROGRAM);
}

bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}
std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++found;
    return found;
}

constexpr std::string_view report_begin = "coroscope: signal ";

// The two tasks, innermost first, with the await between them.
void check_stack(const std::string& text) {
    const std::size_t inner = text.find("#0 task ");
    const std::size_t outer = text.find("#1 task ");
    REQUIRE(inner != std::string::npos);
    REQUIRE(outer != std::string::npos);
    CHECK(inner < outer);
    CHECK(holds(text.substr(inner, outer - inner), "fatal_program.cpp:"));
    CHECK(holds(text.substr(inner, outer - inner), "fetches ("));
    CHECK(holds(text.substr(inner, outer - inner), "running for "));
    CHECK(holds(text.substr(outer), "answers ("));
    CHECK(holds(text.substr(outer), "co_await in "));
}

}  // namespace

TEST_SUITE("crash report") {
    TEST_CASE("each fatal signal's report names the tasks of its thread, and the signal ends the "
              "process") {
        for (const int number : all_signals) {
            CAPTURE(number);
            const program_end end = run("task", number);
            CHECK(end.signal() == number);
            CHECK(count_of(end.output, report_begin) == 1);
            CHECK(holds(end.output, "signal " + std::to_string(number) + " (SIG"));
            check_stack(end.output);
        }
    }

    TEST_CASE("the report is off unless a session asks for it") {
        for (const int number : all_signals) {
            const program_end end = run("without", number);
            CHECK(end.signal() == number);
            CHECK_FALSE(holds(end.output, report_begin));
        }
    }

    TEST_CASE("COROSCOPE_CRASH asks for the report") {
        const scratch_file file;
        const program_end end = run("environment", SIGABRT, {},
                                    {{"COROSCOPE_TRACE", file.path()}, {"COROSCOPE_CRASH", "1"}});
        CHECK(end.signal() == SIGABRT);
        check_stack(end.output);
        check_stack(load(std::string(file.path())).health.crash_report);
    }

    TEST_CASE("the trace holds the report, too") {
        const scratch_file file;
        const program_end end = run("task", SIGSEGV, file.path());
        const analysis::trace trace = load(std::string(file.path()));
        CHECK_FALSE(trace.health.finished);
        CHECK(trace.health.crash_report == end.output);
        check_stack(trace.health.crash_report);
        run("without", SIGSEGV, file.path());
        CHECK(load(std::string(file.path())).health.crash_report.empty());
    }

    TEST_CASE(
        "a process with a report ends with the same status as without one, core dump included") {
        const scratch_file place;
        const std::filesystem::path before = std::filesystem::current_path();
        std::filesystem::current_path(place.folder());  // the folder for core dumps
        rlimit limit{};
        ::getrlimit(RLIMIT_CORE, &limit);
        const rlimit all{limit.rlim_max, limit.rlim_max};
        ::setrlimit(RLIMIT_CORE, &all);
        for (const int number : all_signals)
            CHECK(run("task", number).status == run("without", number).status);
        ::setrlimit(RLIMIT_CORE, &limit);
        std::filesystem::current_path(before);
        for (const auto& each : std::filesystem::directory_iterator(place.folder()))
            std::filesystem::remove(each.path());
    }

    TEST_CASE("the report says so if no task runs, or if the thread never used the runtime") {
        for (const char* mode : {"outside", "thread"}) {
            const program_end end = run(mode);
            CHECK(end.signal() == SIGSEGV);
            CHECK(holds(end.output, "no task runs on this thread\n"));
        }
    }

    TEST_CASE(
        "a handler from before the session is called after the report, with the signal's data") {
        for (const int number : all_signals) {
            CAPTURE(number);
            const program_end with_info = run("info", number);
            CHECK(with_info.exit_code() == 7);
            const bool is_fault = number != SIGBUS && number != SIGABRT;
            CHECK(holds(with_info.output,
                        "info " + std::to_string(number) + " " + (is_fault ? "1" : "0") + " 1\n"));
            CHECK(count_of(with_info.output, report_begin) == 1);
            const program_end plain = run("plain", number);
            CHECK(plain.exit_code() == 8);
            CHECK(holds(plain.output, "plain " + std::to_string(number)));
            CHECK(count_of(plain.output, report_begin) == 1);
        }
    }

    TEST_CASE("a signal that is ignored stays ignored if it is sent, but a fault is still fatal") {
        const program_end end = run("ignored", SIGSEGV);
        CHECK(holds(end.output, "went on"));
        CHECK(end.signal() == SIGSEGV);
        CHECK(count_of(end.output, report_begin) == 1);
        CHECK(end.output.find("went on") < end.output.find(report_begin));
    }

    TEST_CASE("abort() ends a process that ignores SIGABRT, and is reported") {
        const program_end end = run("ignored", SIGABRT);
        CHECK(end.signal() == SIGABRT);
        CHECK(count_of(end.output, report_begin) == 1);
    }

    TEST_CASE("a program that recovers from its faults goes on, and gets its handler back") {
        const program_end end = run("recovering");
        CHECK(holds(end.output, "recovered"));
        CHECK(end.exit_code() == 0);
    }

    TEST_CASE(
        "a handler that was installed later is called first, and may call the session's handler") {
        const program_end end = run("after");
        CHECK(holds(end.output, "mine 11"));
        CHECK(end.output.find("mine") < end.output.find(report_begin));
        CHECK(end.signal() == SIGSEGV);
        check_stack(end.output);
    }

    TEST_CASE("a handler that was installed later outlives the session, and the session's handler "
              "does nothing any more") {
        const program_end end = run("outlives");
        CHECK(holds(end.output, "mine 11"));
        CHECK_FALSE(holds(end.output, report_begin));
        CHECK(end.signal() == SIGSEGV);
    }

    TEST_CASE("handlers that call each other in a circle come to an end") {
        const program_end end = run("circle");
        CHECK(end.signal() == SIGSEGV);
        CHECK(count_of(end.output, report_begin) == 1);
    }

    TEST_CASE(
        "a session removes its handlers at its end, and the next session installs them again") {
        for (const int number : all_signals) CHECK(run("removed", number).exit_code() == 0);
    }

    TEST_CASE("a report that crashes ends there, and the process ends by its own signal") {
        const program_end end = run("itself", SIGFPE);
        CHECK(end.signal() == SIGFPE);
        CHECK(holds(end.output, "the report of this crash crashed itself"));
    }

    TEST_CASE("a stack overflow is reported, on the main thread and on others") {
        for (const char* mode : {"overflow", "overflow of thread"}) {
            CAPTURE(mode);
            const program_end end = run(mode);
            CHECK(end.signal() == SIGSEGV);
            CHECK(holds(end.output, "#0 task "));
            CHECK(holds(end.output, "overflows ("));
        }
    }

    TEST_CASE("threads that crash at once make one report, which is complete") {
        for (int round = 0; round < 10; ++round) {
            const program_end end = run("at once");
            CHECK(end.signal() == SIGSEGV);
            CHECK(count_of(end.output, report_begin) == 1);
            check_stack(end.output);
        }
    }

    TEST_CASE("a reader of the report that is slow or gone neither keeps the process from its end "
              "nor changes the trace's report") {
        for (const char* mode : {"full pipe", "broken pipe"}) {
            CAPTURE(mode);
            const scratch_file file;
            CHECK(run(mode, SIGSEGV, file.path()).signal() == SIGSEGV);
            check_stack(load(std::string(file.path())).health.crash_report);
        }
    }

    TEST_CASE("a forked child makes no report of its parent's session") {
        const program_end end = run("fork");
        CHECK(end.exit_code() == 0);
        CHECK(end.output == "child 11 0 0\n");
    }
}

#endif
