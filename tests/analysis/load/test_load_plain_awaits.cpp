// SPDX-License-Identifier: Apache-2.0
// The short records of awaits, which name their task in part or not at all.

#include <doctest/doctest.h>

#include <coroscope/trace/pack.hpp>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using trace::await_outcome;

TEST_CASE("short records of an await read as the long ones with the outcome of a value") {
    trace_builder built;
    const auto site = built.site("wait", "a.cpp", 3, trace::site_kind::await);
    built.on(1).spawn(10, 1, 0, trace::spawn_started).plain_suspend(20, 1, site);
    built.on(2).plain_resume(50, 1).finish(60, 1);
    built.on(3).wake(40, 1);
    const auto loaded = load(built);
    const auto& one = task(loaded, 1);
    REQUIRE(one.awaits.size() == 1);
    const auto& only = await(loaded, one, 0);
    CHECK(loaded.sites[only.site].label == "wait");
    CHECK(only.suspend_ns == 20);
    CHECK(only.wake_ns == 40);
    CHECK(only.resume_ns == 50);
    CHECK(only.outcome == await_outcome::value);
    CHECK(only.object == analysis::none);
    check_time(one.time, 20, 20, 10, 0);
    CHECK_FALSE(one.losses);
    CHECK(loaded.health.warnings.empty());
    check_sound(loaded);
}

TEST_CASE("a short suspension belongs to the task that is current, whatever made it so") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .plain_suspend(20, 1)
        .resume(30, 1)
        .plain_suspend(35, 1)
        .plain_resume(40, 1)
        .spawn(45, 2, 0, 0, 1)
        .transfer(50, 1, 2)
        .plain_suspend(60, 2)
        .plain_resume(70, 2)
        .finish_transfer(80, 2, 1)
        .plain_suspend(90, 1)
        .next_chunk(100, 3)
        .plain_suspend(110, 3);
    built.on(2).plain_resume(95, 1).finish(99, 1);
    built.on(3).spawn(5, 3);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).awaits.size() == 4);
    CHECK(task(loaded, 2).awaits.size() == 1);
    CHECK(task(loaded, 3).awaits.size() == 1);
    CHECK(task(loaded, 1).state == analysis::task_state::finished);
    CHECK_FALSE(task(loaded, 1).losses);
}

TEST_CASE("a short suspension of another task than the current one is left out and counted") {
    trace_builder built;
    built.on(1).spawn(10, 1, 0, trace::spawn_started).plain_suspend(20, 2).finish(30, 1);
    built.on(2).plain_suspend(20, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).awaits.empty());
    CHECK(task(loaded, 1).state == analysis::task_state::finished);
    REQUIRE(loaded.health.warnings.size() == 1);
    CHECK(loaded.health.warnings[0].find('2') != std::string::npos);
}

TEST_CASE("task ids of 44 bits are kept by short records") {
    constexpr std::uint64_t largest = trace::task_id_limit - 1;
    trace_builder built;
    built.on(1)
        .adopt(largest)
        .plain_resume(20, largest)
        .plain_suspend(30, largest)
        .plain_resume(40, largest)
        .finish(50, largest);
    const auto loaded = load(built);
    CHECK(task(loaded, largest).awaits.size() == 2);
    CHECK(task(loaded, largest).state == analysis::task_state::finished);
}
