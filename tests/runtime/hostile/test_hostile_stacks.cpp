// SPDX-License-Identifier: Apache-2.0

// Stacks without a limit, and stacks that the program switches without reporting it.

#include <string>

#include "../../support/skip.hpp"
#include "../support/session_support.hpp"
#include "hostile_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("stacks") {
    TEST_CASE(
        "a frame on the heap does not count as on the stack, although the stack has no limit") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has the address space");
            return;
        }
        const scratch_file file;
        const int code = run({"unlimited stack", file.path()}).exit_code();
        if (code == 77) {
            COROSCOPE_SKIP("the limit cannot be raised, or the heap does not grow");
            return;
        }
        REQUIRE(code == 0);
        const analysis::trace trace = load(std::string(file.path()));
        const analysis::event* const found = find(trace, "suspended");
        REQUIRE(found != nullptr);
        CHECK((found->flags & analysis::event_in_frame) != 0);
    }

    TEST_CASE("a stack that is left without a report, ended by another thread and unmapped does no "
              "harm") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has to be told of stacks");
            return;
        }
        for (const char* mode : {"switch in job", "switch in coroutine"}) {
            CAPTURE(mode);
            const scratch_file file;
            REQUIRE(run({mode, file.path()}).exit_code() == 0);
            const analysis::trace trace = load(std::string(file.path()));
            CHECK(count(trace, "moved") == 1);
            CHECK(count(trace, "suspended") == 1);
        }
    }
}
