// SPDX-License-Identifier: Apache-2.0

// Stacks of a program that is built with symbols and without debug information.

#include <string>

#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/arguments.hpp>

#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

[[gnu::noinline]] void function_with_arguments(int argument) {
    COROSCOPE_ARGS("with its argument", argument);
    asm volatile("");
}

}  // namespace

TEST_CASE("the recorder's functions are no frames, also if only function names are known") {
    recording session({.with_stack = true});
    function_with_arguments(1);
    const recorded found = session.stop();
    const analysis::event_list events = analysis::events_of(found.trace);
    REQUIRE(events.size() == 1);
    const std::string stack(analysis::function_event(events, 0).stack());
    const std::string innermost = stack.substr(0, stack.find('\n'));
    INFO(stack);
    CHECK(innermost.find("test_stack_names+0x") == 0);
    if (innermost.find(": ") == std::string::npos) {
        MESSAGE("SKIP: no library that reads symbols");
        return;
    }
    CHECK(innermost.find("function_with_arguments") != std::string::npos);
    CHECK(stack.find("coroscope::detail::") == std::string::npos);
}
