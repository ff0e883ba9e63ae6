// SPDX-License-Identifier: Apache-2.0
// Awaits that outlast the tasks that ran within them.

#include "../running_tasks.hpp"
#include "thread_states.hpp"

using namespace coroscope::test;

namespace {

// Task 1 creates tasks 2 and 3, awaits from 100 to 500, and hands its thread to task 2 and then to
// task 3, which ends at 300. From 320 to 380 the thread waits in the kernel.
trace_builder handed_over() {
    trace_builder built = built_trace();
    built.kernel().times(1, 0, 100, 0).leaves(1, 320).enters(1, 380).times(1, 990, 900, 0);
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(10, 1, 0, trace::spawn_started).spawn(20, 2, 0, 0, 1).spawn(30, 3, 0, 0, 1);
    built.on(1).suspend(100, 1, site).resume(101, 2, 1).finish(200, 2, 1).resume(201, 3, 1);
    return built;
}

void check_awaited(const trace_builder& built, bool expected) {
    const analysis::trace loaded = load(built);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == (expected ? 1 : 0));
    CHECK(id_of(loaded, task(loaded, 3).awaiter) == (expected ? 1 : 0));
    const analysis::await_info first = await(loaded, task(loaded, 1), 0);
    CHECK(id_of(loaded, first.awaited) == (expected ? 3 : 0));
    CHECK(first.handed_over);
    CHECK(first.resume_ns == 500);
}

}  // namespace

TEST_CASE("a task does not await those that ended before its thread waited in the kernel") {
    trace_builder built = handed_over();
    built.on(1).finish(300, 3).resume(500, 1).finish(600, 1);
    check_awaited(built, false);
}

TEST_CASE("a task awaits those that ended while its thread had work") {
    trace_builder built = handed_over();
    SUBCASE("until the resume") { built.on(1).finish(400, 3); }
    SUBCASE("the thread waited within a task") {
        built.on(1).finish(300, 3).spawn(310, 4, 0, trace::spawn_started).finish(390, 4);
    }
    built.on(1).resume(500, 1).finish(600, 1);
    check_awaited(built, true);
}

TEST_CASE("a task awaits those whose end is known to wake it, even if its thread waited then") {
    trace_builder built = handed_over();
    built.on(1).finish(300, 3).wake(301, 1, 3, 1).resume(500, 1).finish(600, 1);
    check_awaited(built, true);
}

TEST_CASE("a task awaits those that ended on another thread than the one that resumes it") {
    trace_builder built = handed_over();
    built.on(1).finish(300, 3);
    built.on(2).resume(500, 1).finish(600, 1);
    check_awaited(built, true);
}

TEST_CASE("without the kernel's facts, the tasks that ran within an await count as awaited") {
    trace_builder built = built_trace();
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(10, 1, 0, trace::spawn_started).spawn(20, 2, 0, 0, 1).spawn(30, 3, 0, 0, 1);
    built.on(1).suspend(100, 1, site).resume(101, 2, 1).finish(200, 2, 1).resume(201, 3, 1);
    built.on(1).finish(300, 3).resume(500, 1).finish(600, 1);
    check_awaited(built, true);
}
