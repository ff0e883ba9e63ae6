// SPDX-License-Identifier: Apache-2.0

// Machines without CUPTI, without a driver, without a GPU: one line reports it, and the host is
// recorded.

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <coroscope/analysis/load.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

#include "../runtime/support/program_runs.hpp"
#include "../support/skip.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// Opens the real CUPTI, if the toolkit or the loader has it. The library stays loaded, because its
// allocations would count as leaks otherwise.
std::string real_cupti() {
    for (const char* path : {COROSCOPE_CUDA_TOOLKIT "/lib64/libcupti.so.13",
                             COROSCOPE_CUDA_TOOLKIT "/extras/CUPTI/lib64/libcupti.so.12",
                             "libcupti.so.13", "libcupti.so.12"}) {
        if (::dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) != nullptr) return path;
    }
    return {};
}

bool has_driver() {
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver != nullptr) ::dlclose(driver);
    return driver != nullptr;
}

struct answer {
    std::string state;
    std::string message;
    std::string unavailable;
};

answer ask(const variables& environment) {
    const program_end end = run_program({}, environment);
    CHECK_MESSAGE(end.exit_code() == 0, end.output);
    std::istringstream lines(end.output);
    answer told;
    std::getline(lines, told.state);
    std::getline(lines, told.message);
    std::getline(lines, told.unavailable);
    CHECK(told.state == "1");  // recording
    return told;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("no GPU") {
    TEST_CASE("a missing CUPTI is reported with the loader's own message") {
        const answer told = ask({{"COROSCOPE_CUPTI", "/nowhere/libcupti.so.13"}});
        CHECK(
            told.message ==
            "Devices are not recorded: COROSCOPE_CUPTI cannot be opened: /nowhere/libcupti.so.13: "
            "cannot open shared object file: No such file or directory");
        CHECK(contains(told.unavailable, "cannot be opened"));
    }

    TEST_CASE("a library that is no CUPTI is reported with a missing function") {
        const answer told = ask({{"COROSCOPE_CUPTI", "libc.so.6"}});
        CHECK(contains(told.message,
                       "Devices are not recorded: The CUPTI that was found has no cupti"));
    }

    TEST_CASE("the real CUPTI without a GPU answers with its own error, and the host is recorded") {
        const std::string cupti = real_cupti();
        if (cupti.empty()) {
            COROSCOPE_SKIP("there is no CUPTI");
            return;
        }
        if (has_driver()) {
            COROSCOPE_SKIP("there is a CUDA driver");
            return;
        }
        const answer told = ask({{"COROSCOPE_CUPTI", cupti}});
        CHECK_MESSAGE(contains(told.message, "Devices are not recorded: cupti"), told.message);
        CHECK_MESSAGE(contains(told.message, "CUPTI_ERROR_"), told.message);
        CHECK_MESSAGE(contains(told.message, "there is no CUDA driver (libcuda.so.1)"),
                      told.message);
        CHECK(told.unavailable.empty());
    }

    TEST_CASE(
        "a session of the environment has the reason in its trace why devices are not recorded") {
        const scratch_file file;
        const program_end end = run_program({"idle"}, {{"COROSCOPE_TRACE", file.path()},
                                                       {"COROSCOPE_DEVICE", "cuda"},
                                                       {"COROSCOPE_CUPTI", "/nowhere.so"}});
        CHECK_MESSAGE(end.exit_code() == 0, end.output);
        const auto trace = trace::reader::open(file.path());
        REQUIRE(trace);
        CHECK(trace->header().devices ==
              static_cast<std::uint64_t>(trace::device_recording::not_recorded));
        CHECK(contains(trace->header().device_message, "/nowhere.so"));
        const auto loaded = analysis::load(file.path());
        REQUIRE(loaded);
        CHECK(loaded->events.size() == 1);
        const scratch_file without;
        run_program({"idle"}, {{"COROSCOPE_TRACE", without.path()}, {"COROSCOPE_DEVICE", ""}});
        const auto plain = trace::reader::open(without.path());
        REQUIRE(plain);
        CHECK(plain->header().devices ==
              static_cast<std::uint64_t>(trace::device_recording::not_asked));
    }

    TEST_CASE("a session of the environment records devices") {
        const scratch_file file;
        const program_end end = run_program({"idle"}, {{"COROSCOPE_TRACE", file.path()},
                                                       {"COROSCOPE_DEVICE", "cuda"},
                                                       {"COROSCOPE_CUPTI", FAKE_CUPTI}});
        CHECK_MESSAGE(end.exit_code() == 0, end.output);
        const auto trace = trace::reader::open(file.path());
        REQUIRE(trace);
        CHECK(trace->header().finished == 1);
        CHECK(trace->header().devices ==
              static_cast<std::uint64_t>(trace::device_recording::recorded));
        CHECK(std::string(trace->header().device_message).empty());
    }

    TEST_CASE("work just before the end of the process is in the environment's session") {
        const scratch_file file;
        const program_end end = run_program({"launch"}, {{"COROSCOPE_TRACE", file.path()},
                                                         {"COROSCOPE_DEVICE", "cuda"},
                                                         {"COROSCOPE_CUPTI", FAKE_CUPTI}});
        CHECK_MESSAGE(end.exit_code() == 0, end.output);
        const auto loaded = analysis::load(file.path());
        REQUIRE(loaded);
        CHECK(loaded->device_activities.size() == 2);
        for (const std::string& warning : loaded->health.warnings) FAIL_CHECK(warning);
    }

    TEST_CASE("a child that exits after a fork calls no function of CUPTI at its exit, and does "
              "not hang") {
        const scratch_file file;
        // A child has only one of its parent's threads: LeakSanitizer does not see the memory of
        // the others.
        const program_end end = run_program({"fork"}, {{"COROSCOPE_TRACE", file.path()},
                                                       {"COROSCOPE_DEVICE", "cuda"},
                                                       {"COROSCOPE_CUPTI", FAKE_CUPTI},
                                                       {"ASAN_OPTIONS", "detect_leaks=0"}});
        CHECK_MESSAGE(end.exit_code() == 0, end.output);
        const auto loaded = analysis::load(file.path());
        REQUIRE(loaded);
        CHECK(loaded->device_activities.size() == 2);
    }
}
