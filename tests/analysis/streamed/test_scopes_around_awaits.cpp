// SPDX-License-Identifier: Apache-2.0
// Answers about threads, tasks and awaits are the same if only the scopes around awaits are loaded.

#include <doctest/doctest.h>

#include <cstdint>

#include "../../runtime/support/build.hpp"
#include "equal_answers.hpp"
#include "random_traces.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

std::uint64_t check_random_awaits(const random_parts& parts) {
    constexpr std::uint32_t many = sanitized ? 40 : 150;
    std::uint64_t left_out = 0;
    for (std::uint32_t number = 0; number < many; ++number) {
        CAPTURE(number);
        left_out += check_answers(random_trace(number, parts).finish());
    }
    return left_out;
}

}  // namespace

TEST_SUITE("loading scopes around awaits") {
    TEST_CASE("gives the same answers about random tasks") {
        CHECK(check_random_awaits({.tasks = true}) > 0);
        CHECK(check_random_awaits({.tasks = true, .hand_overs = true}) > 0);
        CHECK(check_random_awaits({.tasks = true, .hand_overs = true, .in_frame = true}) > 0);
    }

    TEST_CASE("gives the same answers about damaged traces") {
        check_random_awaits({.tasks = true, .hand_overs = true, .in_frame = true, .damage = true});
    }

    TEST_CASE("gives the same answers about every kind of record") {
        check_answers(sample_trace().finish());
    }

    TEST_CASE("leaves out all scopes outside tasks, and counts them") {
        const trace::buffer bytes = random_trace(3, {}).finish();
        CHECK(check_answers(bytes) > 0);
        CHECK(around_awaits(bytes, 1).events.empty());
    }

    TEST_CASE("keeps a scope in which its task was suspended on another thread") {
        trace_builder built;
        const auto site = built.site("suspending");
        const auto other = built.site("other");
        const auto await = built.site("wait", "wait.cpp", 5, trace::site_kind::await);
        built.on(1).resume(10, 7).suspend(20, 7, await).scope(site, 15, 60);
        built.on(2).resume(22, 7).scope(other, 25, 65).suspend(30, 7, await);
        check_answers(built.finish());
    }

    TEST_CASE("counts a site without a description") {
        trace_builder built;
        built.on(1).scope(99, 10, 20).scope(98, 30, 40).scope(99, 50, 60);
        const trace::buffer bytes = built.finish();
        check_answers(bytes);
        CHECK(around_awaits(bytes, 2).health.warnings.size() == 1);
    }
}
