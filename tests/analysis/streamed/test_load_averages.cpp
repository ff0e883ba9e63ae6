// SPDX-License-Identifier: Apache-2.0
// Averages that are computed without events are those that are computed from them.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/averages.hpp>

#include "../../runtime/support/build.hpp"
#include "equal_answers.hpp"
#include "random_traces.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

bool check_built(const trace_builder& built) {
    const trace::buffer bytes = built.finish();
    const bool streamed = check_table(bytes, analysis::average_key::name, 1);
    CHECK(check_table(bytes, analysis::average_key::name, 4) == streamed);
    check_table(bytes, analysis::average_key::source_line, 2);
    return streamed;
}

constexpr std::uint32_t many = sanitized ? 40 : 150;

// The number of traces whose averages needed no events.
std::uint32_t check_random_traces(const random_parts& parts) {
    std::uint32_t streamed = 0;
    for (std::uint32_t number = 0; number < many; ++number) {
        CAPTURE(number);
        streamed += check_built(random_trace(number, parts)) ? 1 : 0;
    }
    return streamed;
}

}  // namespace

TEST_SUITE("averages without events") {
    TEST_CASE("are those of the events, for random scopes on several threads") {
        CHECK(check_random_traces({}) == many);
    }

    TEST_CASE("are those of the events, for scopes of tasks") {
        CHECK(check_random_traces({.tasks = true}) > many * 2 / 3);
    }

    TEST_CASE("are those of the events, for tasks that run on top of others") {
        CHECK(check_random_traces({.tasks = true, .hand_overs = true}) > many / 3);
    }

    TEST_CASE("divide the running time by the states of threads") {
        CHECK(check_random_traces({.states = true}) == many);
        CHECK(check_random_traces({.tasks = true, .states = true}) > many / 2);
    }

    TEST_CASE("are not computed if scopes in frames or damage need the events") {
        CHECK(check_random_traces({.tasks = true, .in_frame = true}) < many / 2);
        CHECK(check_random_traces({.tasks = true, .hand_overs = true, .damage = true}) < many / 2);
    }

    TEST_CASE("count a recursive scope once") {
        trace_builder built;
        const auto site = built.site("walk");
        built.on(1).scope(site, 20, 30).scope(site, 10, 40).scope(site, 50, 50).scope(site, 0, 60);
        CHECK(check_built(built));
    }

    TEST_CASE("tell calls that began before the session from whole ones") {
        trace_builder built;
        const auto cut = built.site("cut"), both = built.site("both");
        built.on(1).scope(cut, -60, 40).scope(both, 50, 55);
        built.on(2).scope(both, -10, 45).scope(both, 60, 62);
        CHECK(check_built(built));
    }

    TEST_CASE("name no parent of an empty scope at the end of the scope around it") {
        trace_builder built;
        const auto empty = built.site("empty");
        const auto first = built.site("first");
        const auto second = built.site("second");
        built.on(1).scope(empty, 20, 20).scope(first, 10, 20).scope(second, 25, 30);
        CHECK(check_built(built));
        built.on(1).scope(second, 30, 40);
        built.on(2).scope(empty, 15, 15).scope(first, 10, 15).scope(second, 15, 30);
        CHECK(check_built(built));
    }

    TEST_CASE("need the events of scopes without a description of their site") {
        trace_builder built;
        built.on(1).scope(99, 10, 20).scope(built.site("known"), 0, 30);
        CHECK_FALSE(check_built(built));
    }

    TEST_CASE("need the events of ranges with labels") {
        trace_builder built;
        built.on(1).label(10, 1, "label").long_scope(1, 10, 20, trace::scope_dynamic);
        CHECK_FALSE(check_built(built));
    }

    TEST_CASE("need the events of a task's scopes that overlap on two threads") {
        trace_builder built;
        const auto site = built.site("suspending");
        built.on(1).resume(10, 7).suspend(20, 7).scope(site, 15, 40);
        built.on(2).resume(22, 7).scope(site, 25, 35).suspend(50, 7);
        check_built(built);
    }

    TEST_CASE("have the same warnings in a damaged or unfinished trace") {
        const trace_builder built = random_trace(7, {.tasks = true});
        const std::vector<unsigned char> bytes = built.bytes();
        for (std::size_t size = bytes.size(); size > 4096; size -= std::min<std::size_t>(size, 777))
            check_table(truncated(bytes, size), analysis::average_key::name, 4);
        trace_builder open = random_trace(8, {});
        open.leave_open();
        CHECK(check_built(open));
    }
}
