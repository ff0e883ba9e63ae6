// SPDX-License-Identifier: Apache-2.0
// Tasks that a session did not record from spawn to finish, and the states of tasks at the end.

#include <doctest/doctest.h>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using analysis::task_state;

TEST_CASE("the state of a task at the end follows from its last transition") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1)
        .spawn(20, 2, 0, trace::spawn_ready)
        .spawn(30, 3, 0, trace::spawn_started)
        .suspend(40, 3)
        .spawn(50, 4, 0, trace::spawn_started)
        .suspend(60, 4)
        .wake(70, 4)
        .spawn(80, 5, 0, trace::spawn_started)
        .finish(90, 5, 0, trace::finish_exception)
        .spawn(100, 6, 0, trace::spawn_started)
        .suspend(110, 6)
        .finish(120, 6, 0, trace::finish_destroyed)
        .spawn(130, 7)
        .finish(140, 7, 0, trace::finish_cancelled)
        .spawn(150, 8, 0, trace::spawn_started);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).state == task_state::spawned);
    CHECK_FALSE(task(loaded, 1).first_wake_ns);
    CHECK(task(loaded, 2).state == task_state::queued);
    check_time(task(loaded, 2).time, 0, 0, 980, 0);
    CHECK(task(loaded, 3).state == task_state::suspended);
    check_time(task(loaded, 3).time, 10, 0, 0, 960);
    CHECK(await(loaded, task(loaded, 3), 0).clipped);
    CHECK(task(loaded, 4).state == task_state::queued);
    check_time(task(loaded, 4).time, 10, 10, 930, 0);
    CHECK(task(loaded, 5).state == task_state::failed);
    CHECK(task(loaded, 6).state == task_state::abandoned);
    check_time(task(loaded, 6).time, 10, 0, 0, 10);
    CHECK_FALSE(await(loaded, task(loaded, 6), 0).resume_ns);
    CHECK(task(loaded, 7).state == task_state::cancelled);
    CHECK(task(loaded, 8).state == task_state::running);
    check_time(task(loaded, 8).time, 850, 0, 0, 0);
    check_sound(loaded);
}

TEST_CASE(
    "a task older than the session is in an await from the session's start until it is resumed") {
    trace_builder built;
    const auto spawned = built.site("old");
    built.on(1).adopt(1, spawned).resume(300, 1).finish(400, 1);
    built.on(2).wake(250, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).older_than_session);
    CHECK_FALSE(task(loaded, 1).spawn_ns);
    CHECK(loaded.sites[task(loaded, 1).spawn_site].label == "old");
    check_time(task(loaded, 1).time, 100, 250, 50, 0);
    CHECK(await(loaded, task(loaded, 1), 0).clipped);
    CHECK(await(loaded, task(loaded, 1), 0).suspend_ns == 0);
    check_sound(loaded);
}

TEST_CASE("a task that runs when a thread joins the session is known from the chunk's header") {
    trace_builder built;
    const auto site = built.site("work");
    built.on(1)
        .next_chunk(50, 1)
        .adopt(1)
        .scope(site, 60, 80)
        .suspend(100, 1)
        .resume(200, 1)
        .finish(300, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 150, 0, 0, 150);
    CHECK(event(loaded, "work").task == index_of(loaded, 1));
    CHECK_FALSE(task(loaded, 1).losses);
    check_sound(loaded);
}

TEST_CASE("a task in which a session of all threads begins runs from the session's start") {
    trace_builder built;
    built.header.all_threads = 1;
    const auto site = built.site("work");
    built.on(1)
        .next_chunk(150, 0)
        .scope(site, 60, 80)
        .spawn(400, 2)
        .adopt(1)
        .transfer(500, 1, 2)
        .finish_transfer(600, 2, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).older_than_session);
    CHECK(task(loaded, 1).state == task_state::running);
    CHECK_FALSE(task(loaded, 1).losses);
    check_time(task(loaded, 1).time, 900, 100, 0, 0);
    CHECK(event(loaded, "work").task == index_of(loaded, 1));
    check_sound(loaded);
}

TEST_CASE("a task that records show only as running is older than the session and runs on") {
    trace_builder built;
    built.header.all_threads = 1;
    const auto site = built.site("work");
    built.on(1).next_chunk(300, 7).long_scope(site, 100, 300,
                                              trace::scope_in_frame | trace::scope_exact, 7);
    const auto loaded = load(built);
    CHECK(task(loaded, 7).older_than_session);
    CHECK(task(loaded, 7).state == task_state::running);
    CHECK_FALSE(task(loaded, 7).losses);
    check_time(task(loaded, 7).time, 1000, 0, 0, 0);
    CHECK(event(loaded, "work").self_running_ns == 200);
    check_sound(loaded);
}

TEST_CASE("tasks that run inside a task without a record of its own return to that task") {
    trace_builder built;
    built.header.all_threads = 1;
    built.on(1)
        .spawn(100, 2, 0, trace::spawn_started)
        .suspend(150, 2)
        .context(160, 5, 0)
        .context(180, 0, 5)
        .resume(200, 2)
        .finish(300, 2)
        .next_chunk(350, 0)
        .adopt(1)
        .suspend(400, 1)
        .resume(500, 3)
        .finish(600, 3)
        .resume(700, 1);
    built.on(2).resume(650, 4).finish(660, 4);
    const auto loaded = load(built);
    for (const std::uint64_t id : {1U, 2U, 3U, 4U}) {
        CAPTURE(id);
        CHECK_FALSE(task(loaded, id).losses);
    }
    check_time(task(loaded, 1).time, 250 + 300, 150, 0, 300);
    CHECK(task(loaded, 1).slices.size() == 4);
    check_time(task(loaded, 2).time, 150, 0, 0, 50);
    check_time(task(loaded, 3).time, 100, 0, 0, 500);
    check_sound(loaded);
}

TEST_CASE(
    "a task that runs inside another one at the session's start interrupts an equally old task") {
    trace_builder built;
    built.header.all_threads = 1;
    built.on(1)
        .next_chunk(110, 7)  // for a record with an earlier time
        .adopt(7)
        .suspend(100, 7, 0, 8)
        .resume(150, 9, 8)
        .finish(200, 9, 8)
        .finish(300, 8, 6)
        .resume(320, 9, 6)
        .finish(350, 9, 6)
        .suspend(400, 6);
    const auto loaded = load(built);
    for (const std::uint64_t id : {6U, 7U, 8U}) {
        CAPTURE(id);
        CHECK_FALSE(task(loaded, id).losses);
        CHECK(task(loaded, id).older_than_session);
    }
    check_time(task(loaded, 7).time, 100, 0, 0, 900);
    check_time(task(loaded, 8).time, 150, 150, 0, 0);
    check_time(task(loaded, 6).time, 70, 330, 0, 600);
    check_sound(loaded);
}

TEST_CASE("a task that leaves a thread with losses may have run there before, and is marked") {
    trace_builder built;
    built.header.all_threads = 1;
    built.thread(1).dropped_newest = 5;
    built.on(1).adopt(1).suspend(400, 1).resume(500, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).losses);
    CHECK(task(loaded, 1).time.running_ns <= 600);
    check_sound(loaded);
}

TEST_CASE("a spawn restated at the finish does not make a task older than the session") {
    trace_builder built;
    built.on(1).spawn(100, 1, 0, trace::spawn_started).adopt(1).finish(200, 1);
    const auto loaded = load(built);
    CHECK_FALSE(task(loaded, 1).older_than_session);
    CHECK(task(loaded, 1).spawn_ns == 100);
    check_time(task(loaded, 1).time, 100, 0, 0, 0);
}

TEST_CASE("the live-task table describes tasks whose spawn record is gone") {
    trace_builder built;
    const auto spawned = built.site("worker");
    built.thread(1).overwritten = 100;
    built.live_task({1, trace_builder::base_ticks + 20, 9, spawned, trace::spawn_fiber});
    built.on(1).resume(300, 1).suspend(400, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).spawn_ns == 20);
    CHECK(task(loaded, 1).fiber);
    CHECK(task(loaded, 1).parent == index_of(loaded, 9));
    CHECK(loaded.sites[task(loaded, 1).spawn_site].label == "worker");
    CHECK_FALSE(task(loaded, 1).older_than_session);
    check_sound(loaded);
}

TEST_CASE(
    "an edge without a transition names the awaiter and the task that the next await waits for") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .spawn(10, 2)
        .awaiting(50, 1, 2)
        .suspend(60, 1)
        .awaiting(70, 1, 2)
        .resume(80, 1)
        .finish(90, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 2).awaiter == index_of(loaded, 1));
    CHECK(await(loaded, task(loaded, 1), 0).awaited == index_of(loaded, 2));
    check_sound(loaded);
}
