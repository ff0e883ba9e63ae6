// SPDX-License-Identifier: Apache-2.0

// Sessions that stop while tasks run on top of others.

#include <doctest/doctest.h>

#include "../chrome_export.hpp"
#include "../running_tasks.hpp"
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/views.hpp>

using namespace coroscope;
using namespace coroscope::test;

TEST_CASE("a task is suspended at the stop of a session if another one runs on top of it") {
    trace_builder built;
    const auto item = built.site("next", "g.cpp", 3, trace::site_kind::coroutine);
    built.header.all_threads = 1;
    built.on(1).spawn(0, 1).resume(0, 1);
    built.on(1).spawn(100, 2, item, trace::spawn_started, 1).spawn(300, 3, item, 0, 2);
    built.on(1).resume(400, 3, 2);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 100, 900, 0, 0);
    check_time(task(loaded, 2).time, 300, 600, 0, 0);
    check_time(task(loaded, 3).time, 600, 0, 0, 0);
    CHECK(task(loaded, 1).state == analysis::task_state::suspended);
    CHECK(task(loaded, 2).state == analysis::task_state::suspended);
    CHECK(task(loaded, 3).state == analysis::task_state::running);
    for (const std::uint64_t id : {1U, 2U}) {
        CAPTURE(id);
        REQUIRE(task(loaded, id).awaits.size() == 1);
        const analysis::await_info& held = await(loaded, task(loaded, id), 0);
        CHECK(held.handed_over);
        CHECK(held.clipped);
        CHECK_FALSE(held.wake_ns.has_value());
        CHECK_FALSE(held.resume_ns.has_value());
        CHECK(held.waker == analysis::none);
        CHECK(held.waker_thread == analysis::none);
        CHECK(id_of(loaded, held.awaited) == id + 1);
        CHECK(task(loaded, id).slices.size() == 1);
    }
    CHECK(running_ns(loaded) == 1000);
    check_sound(loaded);
}

TEST_CASE("every view shows that a task is suspended at the end by a task on top of it") {
    trace_builder built;
    const auto item = built.site("next", "g.cpp", 3, trace::site_kind::coroutine);
    built.header.all_threads = 1;
    built.on(1).spawn(0, 1).resume(0, 1).spawn(100, 2, item, trace::spawn_started, 1);
    const auto loaded = load(built);
    check_time(analysis::split_of(loaded, await(loaded, task(loaded, 1), 0)), 0, 900, 0, 0);
    const auto rows = analysis::await_statistics(loaded);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].name == "next (resumed in place)");
    CHECK(rows[0].times.suspended_ns == 900);
    CHECK(rows[0].times.waiting_ns == 0);
    CHECK(rows[0].times.unknown_wakes == 0);
    CHECK(rows[0].times.unfinished == 1);
    const std::string story = analysis::task_text(loaded, index_of(loaded, 1), {});
    CHECK(story.find("not yet") != std::string::npos);
    CHECK(story.find("suspended") != std::string::npos);
    CHECK(loaded.health.unseen_wakes == 0);
}

TEST_CASE("a chain of tasks on top of another at the session's end is one open hand-over") {
    trace_builder built;
    built.on(1).spawn(0, 1).resume(0, 1).spawn(10, 2).spawn(20, 3);
    SUBCASE("by a transfer") { built.on(1).resume(100, 2, 1).transfer(200, 2, 3); }
    SUBCASE("resumed in the suspension of an await") {
        built.on(1).resume(100, 2, 1).suspend(200, 2, 0, 1).resume(200, 3, 2);
    }
    SUBCASE("resumed in a final suspension") {
        built.on(1).resume(100, 2, 1).finish(200, 2, 1).resume(200, 3, 2);
    }
    SUBCASE("one of the tasks had resumed another one itself") {
        built.on(1).spawn(20, 4).resume(100, 2, 1).resume(120, 4, 2).finish(150, 4, 2);
        built.on(1).suspend(200, 2, 0, 1).resume(200, 3, 2);
    }
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 100, 900, 0, 0);
    CHECK(task(loaded, 1).state == analysis::task_state::suspended);
    REQUIRE(task(loaded, 1).awaits.size() == 1);
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 0).awaited) == 2);
    CHECK_FALSE(await(loaded, task(loaded, 1), 0).resume_ns.has_value());
    CHECK(task(loaded, 1).slices.size() == 1);
    CHECK(running_ns(loaded) == 1000);
    check_sound(loaded);
}

TEST_CASE(
    "a task is suspended if the last record of the session resumes another one on top of it") {
    trace_builder built;
    built.lasts(100);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(100, 2, 0, trace::spawn_started, 1);
    const auto loaded = load(built);
    REQUIRE(loaded.duration_ns == 100);
    CHECK(task(loaded, 1).state == analysis::task_state::suspended);
    CHECK(task(loaded, 2).state == analysis::task_state::running);
    REQUIRE(task(loaded, 1).awaits.size() == 1);
    CHECK_FALSE(await(loaded, task(loaded, 1), 0).resume_ns.has_value());
    check_sound(loaded);
}

TEST_CASE("the rest of a hand-over that is open when its thread drops records is unknown") {
    trace_builder built;
    built.thread(1).dropped_newest = 5;
    built.on(1).spawn(0, 1).resume(0, 1).spawn(100, 2, 0, trace::spawn_started, 1);
    built.on(1).spawn(300, 3);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).losses);
    CHECK(task(loaded, 1).state == analysis::task_state::unknown);
    check_time(task(loaded, 1).time, 100, 0, 0, 900);
    const analysis::await_info& open = await(loaded, task(loaded, 1), 0);
    CHECK_FALSE(open.wake_ns.has_value());
    CHECK_FALSE(open.resume_ns.has_value());
    CHECK(open.waker == analysis::none);
    CHECK(analysis::split_of(loaded, open).waiting_ns == 900);
    check_sound(loaded);
}

TEST_CASE(
    "the bar of a task encloses the bar of a task that is on top of it at the session's end") {
    trace_builder built;
    built.on(1).spawn(0, 1).resume(0, 1).spawn(10, 2).resume(100, 2, 1).finish(200, 2, 1);
    built.on(1).spawn(300, 3, 0, trace::spawn_started, 1);
    const auto document = coroscope_tests::parse_json(coroscope_tests::exported(load(built)));
    std::vector<std::pair<long long, long long>> bars;
    for (const auto& [lane, spans] : coroscope_tests::lanes_of(document))
        for (const auto& each : spans)
            if (lane.first != 1 && each.end > each.start) bars.emplace_back(each.start, each.end);
    CHECK(bars == std::vector<std::pair<long long, long long>>{{0, 1000}, {100, 200}, {300, 1000}});
    CHECK(coroscope_tests::count_overlaps(document) == 0);
}
