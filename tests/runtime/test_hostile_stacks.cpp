// SPDX-License-Identifier: Apache-2.0

// Stacks without a limit, and such as are switched while nobody is told.

#include <string>

#include "../support/skip.hpp"
#include "hostile_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("stacks") {
    TEST_CASE(
        "where the stack may grow for ever, a frame on the heap that grows later is none of it") {
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

    TEST_CASE("a stack that is left untold, ended by another thread and unmapped harms nobody") {
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
