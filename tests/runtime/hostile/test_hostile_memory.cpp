// SPDX-License-Identifier: Apache-2.0

// Memory runs out: a session is refused or goes on, and reports the lost records.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "../../support/skip.hpp"
#include "../support/session_support.hpp"
#include "hostile_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct said_status {
    int state = -1;
    int error = -1;
    std::string message;
};
std::vector<said_status> statuses_in(const std::string& output) {
    std::vector<said_status> all;
    std::istringstream lines(output);
    for (said_status each; lines >> each.state >> each.error && std::getline(lines, each.message);)
        all.push_back(each);
    return all;
}

// Calls of malloc and free on the threads that have steps.
std::uint64_t calls_on_workers(const analysis::trace& trace) {
    std::set<std::uint32_t> workers;
    for (const auto& each : trace.events)
        if (label_of(trace, each) == "step") workers.insert(each.thread);
    return static_cast<std::uint64_t>(
        std::count_if(trace.events.begin(), trace.events.end(), [&](const auto& each) {
            return workers.contains(each.thread) && label_of(trace, each) != "step";
        }));
}

}  // namespace

TEST_SUITE("memory") {
    TEST_CASE("a session without memory is refused, gives the reason and leaves no file") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reserves more than the limit");
            return;
        }
        const scratch_file file;
        const program_end end = run({"no memory at the start", file.path()});
        CHECK(end.exit_code() == 0);
        const std::vector<said_status> said = statuses_in(end.output);
        REQUIRE(said.size() == 4);
        for (const std::size_t refused : {0U, 1U, 3U}) {
            CHECK(said[refused].state == static_cast<int>(session_state::refused));
            CHECK((said[refused].error == ENOMEM || said[refused].error == EAGAIN));
            CHECK(said[refused].message.size() > 1);
        }
        CHECK(said[2].state == static_cast<int>(session_state::recording));
        CHECK(::access(file.path(), F_OK) != 0);
    }

    TEST_CASE("a program's own malloc may have scopes, also in the first call of a thread") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has a malloc of its own");
            return;
        }
        const scratch_file file;
        const program_end end = run_program({file.path()}, {}, MALLOC_PROGRAM);
        CHECK(end.exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(count(trace, "step") == 4000);
        std::uint64_t lost = 0;
        std::uint64_t calls = 0;
        std::istringstream(end.output) >> lost >> calls;
        CHECK(lost > 0);  // while threads are registered
        CHECK(trace.health.dropped_newest == lost);
        CHECK(calls_on_workers(trace) + lost == calls);
        CHECK(trace.health.damaged_chunks == 0);
        CHECK(trace.health.warnings.empty());
    }

    TEST_CASE(
        "a session goes on when memory runs out, and its file holds the records before that") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reserves more than the limit");
            return;
        }
        const scratch_file file;
        const program_end end = run({"no memory any more", file.path()});
        REQUIRE(end.exit_code() == 0);
        const std::uint64_t lost = std::stoull(end.output);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) + lost >= 101'000);
        CHECK(count_steps(trace) > 1000);
    }

    TEST_CASE("a trace in memory that cannot be handed over is reported as lost") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reserves more than the limit");
            return;
        }
        const program_end end = run({"no memory any more"});
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, " 1 " + std::to_string(ENOMEM) +
                                    " There is no memory to hand the trace over: it is lost.\n"));
    }
}
