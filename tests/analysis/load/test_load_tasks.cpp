// SPDX-License-Identifier: Apache-2.0
// Task records become slices, awaits and the four kinds of time.

#include <doctest/doctest.h>

#include <coroscope/analysis/views.hpp>

#include "../chrome_export.hpp"
#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using analysis::task_state;

TEST_CASE("suspend, wake and resume divide a task's wall time into running, suspended and queued") {
    trace_builder built;
    const auto spawned = built.site("serve"),
               read = built.site("read", "io.cpp", 9, trace::site_kind::await);
    built.on(1)
        .spawn(100, 7, spawned, trace::spawn_started)
        .suspend(200, 7, read)
        .resume(500, 7)
        .finish(600, 7);
    built.on(2).wake(450, 7, 9, 2).spawn(900, 9, spawned);
    const auto loaded = load(built);
    const analysis::task_info& one = task(loaded, 7);
    check_time(one.time, 200, 250, 50, 0);
    CHECK(one.state == task_state::finished);
    CHECK(one.first_wake_ns == 100);
    CHECK(one.end_ns == 600);
    CHECK(one.slices.size() == 2);
    const analysis::await_info& waited = await(loaded, one, 0);
    CHECK(loaded.sites[waited.site].label == "read");
    CHECK(waited.suspend_ns == 200);
    CHECK(waited.wake_ns == 450);
    CHECK(waited.resume_ns == 500);
    CHECK(waited.waker == index_of(loaded, 9));
    CHECK(loaded.threads[waited.waker_thread].id == 2);
    CHECK_FALSE(waited.clipped);
    check_sound(loaded);
}

TEST_CASE("every view marks an await whose resume may have been earlier than its recorded time") {
    trace_builder built;
    built.on(1).spawn(100, 7, 0, trace::spawn_started).suspend(200, 7);
    built.on(1).resume(500, 7, 0, trace::resume_overdue).suspend(500, 7).resume(700, 7);
    built.on(1).finish(800, 7);
    const auto loaded = load(built);
    const analysis::task_info& one = task(loaded, 7);
    REQUIRE(one.awaits.size() == 2);
    CHECK(await(loaded, one, 0).resume_overdue);
    CHECK(await(loaded, one, 0).resume_ns == 500);
    CHECK_FALSE(await(loaded, one, 1).resume_overdue);
    const std::string rows =
        analysis::to_csv(analysis::list_task_awaits(loaded, index_of(loaded, 7)));
    CHECK(rows.find(",300,300,earlier,") != std::string::npos);
    CHECK(rows.find(",200,200,yes,") != std::string::npos);
    const std::string drawn = coroscope_tests::exported(loaded);
    const std::size_t mark = drawn.find("\"resume_overdue\":true");
    CHECK(mark != std::string::npos);
    CHECK(drawn.find("resume_overdue", mark + 1 + 15) == std::string::npos);
    check_sound(loaded);
}

TEST_CASE("an await without a recorded wake is waiting, not suspended, for its whole length") {
    trace_builder built;
    built.on(1)
        .spawn(100, 7, 0, trace::spawn_started)
        .suspend(200, 7)
        .resume(500, 7)
        .finish(600, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 200, 0, 0, 300);
    CHECK_FALSE(await(loaded, task(loaded, 7), 0).wake_ns);
    check_sound(loaded);
}

TEST_CASE("spawn to first wake is no part of the wall time, first wake to first resume is queued") {
    trace_builder built;
    built.on(1).spawn(100, 7).resume(300, 7).finish(400, 7);
    built.on(2).wake(250, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 100, 0, 50, 0);
    CHECK(task(loaded, 7).spawn_ns == 100);
    CHECK(task(loaded, 7).first_wake_ns == 250);
    CHECK(task(loaded, 7).spawn_to_wake_ns == 150);
    check_sound(loaded);
}

TEST_CASE("the wall time begins at the first resume if no first wake was seen") {
    trace_builder built;
    built.on(1).spawn(100, 7).resume(300, 7).finish(400, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 100, 0, 0, 0);
    CHECK(task(loaded, 7).first_wake_ns == 300);
}

TEST_CASE("a task spawned ready is queued from its spawn") {
    trace_builder built;
    built.on(1).spawn(100, 7, 0, trace::spawn_ready).resume(300, 7).finish(400, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 100, 0, 200, 0);
}

TEST_CASE("a hand-over wakes and resumes at one moment") {
    trace_builder built;
    built.on(1)
        .spawn(100, 7, 0, trace::spawn_started)
        .suspend(200, 7)
        .resume(500, 7, 0, trace::resume_handed_over | trace::resume_called)
        .finish(600, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 200, 300, 0, 0);
    CHECK(await(loaded, task(loaded, 7), 0).wake_ns == 500);
}

TEST_CASE("a task that was ready as soon as it suspended is queued from then on, woken by itself") {
    trace_builder built;
    built.on(1).spawn(100, 7, 0, trace::spawn_started).suspend(200, 7);
    built.on(2).resume(500, 7, 0, trace::resume_ready).finish(600, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 200, 0, 300, 0);
    const analysis::await_info& turn = await(loaded, task(loaded, 7), 0);
    CHECK(turn.wake_ns == 200);
    CHECK(loaded.tasks[turn.waker].id == 7);
    CHECK(loaded.threads[turn.waker_thread].id == 1);
}

TEST_CASE(
    "a task that is older than the session is waiting, not queued, before a resume as ready") {
    trace_builder built;
    built.on(1).resume(500, 7, 0, trace::resume_ready).finish(600, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 100, 0, 0, 500);
}

TEST_CASE("the earliest wake of an await counts") {
    trace_builder built;
    built.on(1).spawn(0, 7, 0, trace::spawn_started).suspend(100, 7).resume(500, 7).finish(600, 7);
    built.on(2).wake(300, 7).wake(400, 7);
    built.on(3).wake(350, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 200, 200, 200, 0);
}

TEST_CASE("a wake slightly earlier than its suspension counts as a wake at the suspension") {
    trace_builder built;
    built.on(1).spawn(0, 7, 0, trace::spawn_started).suspend(100, 7).resume(500, 7).finish(600, 7);
    built.on(2).wake(95, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 200, 0, 400, 0);
    CHECK(await(loaded, task(loaded, 7), 0).wake_ns == 100);
}

TEST_CASE("a wake long before the suspension does not make the task queued") {
    trace_builder built;
    built.lasts(1'000'000);
    built.on(1)
        .spawn(0, 7, 0, trace::spawn_started)
        .suspend(500'000, 7)
        .resume(600'000, 7)
        .finish(700'000, 7);
    built.on(2).wake(1'000, 7);
    const auto loaded = load(built);
    check_time(task(loaded, 7).time, 600'000, 0, 0, 100'000);
}

TEST_CASE("a transfer suspends the awaiter and starts the awaited task at one moment") {
    trace_builder built;
    const auto site = built.site("child", "a.cpp", 3, trace::site_kind::await);
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .spawn(50, 2, 0, 0, 1)
        .transfer(100, 1, 2, site)
        .finish_transfer(300, 2, 1)
        .finish(400, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 200, 200, 0, 0);
    check_time(task(loaded, 2).time, 200, 0, 0, 0);
    CHECK(task(loaded, 2).awaiter == index_of(loaded, 1));
    CHECK(task(loaded, 2).parent == index_of(loaded, 1));
    CHECK(task(loaded, 2).spawn_to_wake_ns == 50);
    const analysis::await_info& waited = await(loaded, task(loaded, 1), 0);
    CHECK(waited.awaited == index_of(loaded, 2));
    CHECK(waited.waker == index_of(loaded, 2));
    CHECK(waited.wake_ns == 300);
    CHECK(loaded.sites[waited.site].label == "child");
    check_sound(loaded);
}

TEST_CASE("a suspension that is taken back while no task ran leaves the task on its thread") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .cancel(150, 1)
        .suspend(200, 1)
        .resume(300, 1)
        .finish(400, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 300, 0, 0, 100);
    REQUIRE(task(loaded, 1).awaits.size() == 2);
    CHECK(await(loaded, task(loaded, 1), 0).at_once);
    CHECK(task(loaded, 1).slices.size() == 2);
    CHECK(loaded.slices[task(loaded, 1).slices[0]].end_ns == 200);
    check_sound(loaded);
}

TEST_CASE("a suspension that is taken back lasts while another task runs inside it") {
    trace_builder built;
    const auto site = built.site("whole");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .spawn(120, 2, 0, trace::spawn_started)
        .finish(140, 2)
        .cancel(150, 1)
        .scope(site, 10, 390)
        .finish(400, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 350, 50, 0, 0);
    CHECK(task(loaded, 1).slices.size() == 2);
    CHECK(await(loaded, task(loaded, 1), 0).handed_over);
    CHECK(event(loaded, "whole").self_running_ns <= 360);
    check_sound(loaded);
}

TEST_CASE("a task that is resumed inside its own await_suspend ran before and after") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .resume(110, 1, 1)
        .suspend(200, 1, 0, 1)
        .resume(210, 1, 1)
        .finish(300, 1, 1)
        .resume(400, 2);
    const auto loaded = load(built);
    CHECK_FALSE(task(loaded, 1).losses);
    CHECK_FALSE(task(loaded, 2).losses);
    CHECK(task(loaded, 1).slices.size() == 3);
    check_time(task(loaded, 1).time, 280, 0, 0, 20);
    check_sound(loaded);
}

TEST_CASE("a task that is resumed in another one's final suspension runs after that one's end") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .finish(100, 1)
        .resume(110, 2, 1)
        .suspend(120, 2, 0, 1)
        .resume(130, 3, 1)
        .finish(140, 3, 1)
        .resume(200, 2);
    const auto loaded = load(built);
    for (const std::uint64_t id : {1U, 2U, 3U}) {
        CAPTURE(id);
        CHECK_FALSE(task(loaded, id).losses);
    }
    CHECK(task(loaded, 1).slices.size() == 1);
    check_time(task(loaded, 1).time, 100, 0, 0, 0);
    check_sound(loaded);
}

TEST_CASE("tasks that a task resumes and starts in its await_suspend run while it is suspended") {
    trace_builder built;
    built.on(1)
        .resume(50, 9)
        .spawn(60, 1, 0, trace::spawn_started, 9)
        .suspend(100, 1, 0, 9)
        .resume(110, 2, 1)
        .suspend(120, 2, 0, 1)
        .resume(130, 3, 2)
        .finish(140, 3, 2)
        .spawn(150, 4, 0, trace::spawn_started, 1)
        .suspend(160, 4, 0, 1)
        .resume(200, 5, 9)
        .finish(210, 5, 9)
        .resume(300, 1, 9)
        .finish(400, 1, 9)
        .finish(500, 9);
    const auto loaded = load(built);
    for (const std::uint64_t id : {1U, 2U, 3U, 4U, 5U, 9U}) {
        CAPTURE(id);
        CHECK_FALSE(task(loaded, id).losses);
    }
    CHECK(task(loaded, 1).slices.size() == 2);
    check_time(task(loaded, 1).time, 140, 0, 0, 200);
    check_time(task(loaded, 9).time, 240, 210, 0, 50);
    check_sound(loaded);
}

TEST_CASE("a nested slice is no part of the outer scope's running time, nor of its task's") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner"), loop = built.site("loop");
    built.on(1)
        .resume(100, 1)
        .spawn(200, 2, 0, trace::spawn_started, 1)
        .scope(inner, 210, 290)
        .suspend(300, 2, 0, 1)
        .scope(outer, 150, 450)
        .finish(500, 1)
        .scope(loop, 50, 600);
    const auto loaded = load(built);
    CHECK(event(loaded, "outer").end_ns - event(loaded, "outer").start_ns == 300);
    CHECK(event(loaded, "outer").self_running_ns == 200);
    CHECK(event(loaded, "inner").self_running_ns == 80);
    CHECK(parent_name(loaded, event(loaded, "inner")).empty());
    CHECK(event(loaded, "loop").self_running_ns == 550 - 400);
    CHECK(event(loaded, "loop").task == analysis::none);
    CHECK(event(loaded, "outer").task == index_of(loaded, 1));
    CHECK(event(loaded, "inner").task == index_of(loaded, 2));
    check_time(task(loaded, 1).time, 300, 100, 0, 100);
    check_sound(loaded);
}

TEST_CASE("a slice is clipped if its task was resumed on another thread before the slice's end") {
    trace_builder built;
    const auto post = built.site("post", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(120, 1, post);
    built.on(2).resume(100, 1).finish(300, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 300, 0, 0, 0);
    REQUIRE(task(loaded, 1).slices.size() == 2);
    CHECK(loaded.slices[task(loaded, 1).slices[0]].end_ns == 100);
    REQUIRE(task(loaded, 1).awaits.size() == 1);
    CHECK(await(loaded, task(loaded, 1), 0).suspend_ns == 100);
    CHECK(await(loaded, task(loaded, 1), 0).resume_ns == 100);
    CHECK(loaded.sites[await(loaded, task(loaded, 1), 0).site].label == "post");
    check_sound(loaded);
}

TEST_CASE(
    "records of one tick on two threads are taken in an order in which they can have happened") {
    trace_builder built;
    built.on(2).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
    built.on(1).resume(100, 1).suspend(200, 1);
    built.on(2).resume(200, 1).finish(300, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 300, 0, 0, 0);
    CHECK(task(loaded, 1).awaits.size() == 2);
    CHECK_FALSE(task(loaded, 1).losses);
    check_sound(loaded);
}

TEST_CASE(
    "records of one tick keep the order of their thread while they wait for another thread's") {
    trace_builder built;
    built.on(1).resume(100, 1).suspend(100, 1).resume(100, 1).suspend(100, 1);
    built.on(2).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1).resume(100, 1).finish(300, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 300, 0, 0, 0);
    CHECK(task(loaded, 1).awaits.size() == 3);
    CHECK_FALSE(task(loaded, 1).losses);
    check_sound(loaded);
}

TEST_CASE("a tick with 600,000 records in an impossible order is read soundly") {
    constexpr int many = 300'000;
    trace_builder built(std::size_t{1} << 24);
    auto one = built.on(1);
    auto two = built.on(2);
    one.spawn(1000, 1).resume(2000, 1);
    for (int at = 0; at < many; ++at) {
        one.resume(3000, 1);
        two.suspend(3000, 1);
    }
    for (int at = 0; at < many; ++at) one.resume(4000, 1);
    built.lasts(5000);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).awaits.size() == many);
    CHECK(task(loaded, 1).losses);
    check_sound(loaded);
}
