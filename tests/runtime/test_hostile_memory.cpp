// SPDX-License-Identifier: Apache-2.0

// Where memory ends: a session is refused or goes on, and what is lost is told of.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "../support/skip.hpp"
#include "hostile_runs.hpp"
#include "session_support.hpp"

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

}  // namespace

TEST_SUITE("memory") {
    TEST_CASE("without memory for it a session is refused, says why and leaves no file") {
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

    TEST_CASE("a session goes on when memory ends, and a file holds what was recorded") {
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

    TEST_CASE("a trace in memory that cannot be handed over is told of") {
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
