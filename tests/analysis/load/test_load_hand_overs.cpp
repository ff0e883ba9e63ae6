// SPDX-License-Identifier: Apache-2.0

// Tasks that run on top of others, or in their place: in an await_suspend, in a final suspension,
// or in the middle of another task's code.

#include <doctest/doctest.h>

#include "../running_tasks.hpp"
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/views.hpp>

using namespace coroscope;
using namespace coroscope::test;

namespace {

// Task `root` awaits `middle`, which awaits `leaf`. Each is resumed in its awaiter's await_suspend,
// and `leaf` runs for 50 ns.
thread_writer await_in_place(thread_writer on, std::int64_t at, std::uint64_t root,
                             std::uint64_t middle, std::uint64_t leaf, std::uint32_t site) {
    return on.spawn(at, middle, 0, 0, root)
        .suspend(at + 10, root, site)
        .resume(at + 10, middle, root)
        .spawn(at + 15, leaf, 0, 0, middle)
        .suspend(at + 20, middle, site, root)
        .resume(at + 20, leaf, middle)
        .finish(at + 70, leaf, middle)
        .cancel(at + 70, middle)
        .finish(at + 80, middle, root)
        .cancel(at + 80, root);
}

}  // namespace

TEST_CASE("a task is suspended while a task that its await resumed in place runs on top of it") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    await_in_place(built.on(1).spawn(0, 1).resume(0, 1), 100, 1, 2, 3, site).finish(200, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 110 + 20, 70, 0, 0);
    check_time(task(loaded, 2).time, 10 + 10, 50, 0, 0);
    check_time(task(loaded, 3).time, 50, 0, 0, 0);
    CHECK(running_ns(loaded) == 200);
    check_sound(loaded);
}

TEST_CASE(
    "an await that completes inside await_suspend has its row, its awaited task and its waker") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    await_in_place(built.on(1).spawn(0, 1).resume(0, 1), 100, 1, 2, 3, site).finish(200, 1);
    const auto loaded = load(built);
    REQUIRE(task(loaded, 1).awaits.size() == 1);
    const analysis::await_info& outer = await(loaded, task(loaded, 1), 0);
    CHECK(outer.suspend_ns == 110);
    CHECK(outer.wake_ns == analysis::optional_ns(180));
    CHECK(outer.resume_ns == analysis::optional_ns(180));
    CHECK(outer.handed_over);
    CHECK(id_of(loaded, outer.awaited) == 2);
    CHECK(id_of(loaded, outer.waker) == 2);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 1);
    CHECK(id_of(loaded, task(loaded, 3).awaiter) == 2);
    const auto rows = analysis::await_statistics(loaded);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].times.count == 2);
    CHECK(rows[0].times.suspended_ns == 70 + 50);
    CHECK(analysis::await_chains(loaded).size() == 1);
}

TEST_CASE(
    "an await that completes inside await_suspend while no task runs takes no time, and counts") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).suspend(100, 1, site).cancel(130, 1).finish(200, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 200, 0, 0, 0);
    REQUIRE(task(loaded, 1).awaits.size() == 1);
    CHECK(await(loaded, task(loaded, 1), 0).resume_ns == analysis::optional_ns(100));
    CHECK_FALSE(await(loaded, task(loaded, 1), 0).handed_over);
    CHECK(task(loaded, 1).slices.size() == 1);
    CHECK(analysis::await_statistics(loaded)[0].times.count == 1);
    check_sound(loaded);
}

TEST_CASE("a task resumed in place in another one's final suspension has that one as its waker") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1)
        .spawn(0, 1)
        .resume(0, 1)
        .spawn(90, 2, 0, 0, 1)
        .suspend(100, 1, site)
        .resume(100, 2, 1)
        .suspend(110, 2, site, 1);
    built.on(2).resume(300, 2).finish(350, 2).resume(352, 1, 2).finish(400, 1, 2);
    const auto loaded = load(built);
    const analysis::await_info& joined = await(loaded, task(loaded, 1), 0);
    CHECK(joined.wake_ns == analysis::optional_ns(352));
    CHECK(id_of(loaded, joined.waker) == 2);
    CHECK(id_of(loaded, joined.awaited) == 2);
    check_time(task(loaded, 1).time, 100 + 48, 252, 0, 0);
    CHECK_FALSE(await(loaded, task(loaded, 2), 0).wake_ns.has_value());
    check_sound(loaded);
}

TEST_CASE(
    "the child of a join that ends last is the waker, and the join awaits all of its children") {
    trace_builder built;
    const auto site = built.site("when_all", "a.cpp", 5, trace::site_kind::await);
    const auto inner = built.site("read", "a.cpp", 9, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(80, 2, 0, 0, 1).spawn(90, 3, 0, 0, 1);
    built.on(1)
        .suspend(100, 1, site)
        .resume(100, 2, 1)
        .suspend(110, 2, inner, 1)
        .resume(110, 3, 1)
        .suspend(120, 3, inner, 1);
    built.on(2).resume(200, 3).finish(210, 3).resume(300, 2).finish(310, 2).resume(310, 1, 2);
    built.on(2).finish(400, 1, 2);
    const auto loaded = load(built);
    const analysis::await_info& joined = await(loaded, task(loaded, 1), 0);
    CHECK(id_of(loaded, joined.waker) == 2);
    CHECK(id_of(loaded, joined.awaited) == 2);
    CHECK(joined.wake_ns == analysis::optional_ns(310));
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 1);
    CHECK(id_of(loaded, task(loaded, 3).awaiter) == 1);
    // Both children's reads are reached through the join.
    const auto chains = analysis::await_chains(loaded);
    REQUIRE(chains.size() == 1);
    CHECK(chains[0].times.count == 2);
    CHECK(chains[0].sites.size() == 4);
    check_sound(loaded);
}

TEST_CASE("a symmetric transfer out of a foreign final suspension names the waker") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(90, 2, 0, 0, 1).suspend(100, 1, site);
    built.on(1).resume(101, 2, 0, trace::resume_handed_over).finish(200, 2);
    built.on(1).resume(201, 1, 0, trace::resume_handed_over).finish(300, 1);
    const auto loaded = load(built);
    const analysis::await_info& awaiting = await(loaded, task(loaded, 1), 0);
    CHECK(id_of(loaded, awaiting.waker) == 2);
    CHECK(id_of(loaded, awaiting.awaited) == 2);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 1);
    check_time(task(loaded, 1).time, 199, 101, 0, 0);
}

TEST_CASE("a task that a running task resumes has it as its waker, and an unknown time of wake") {
    trace_builder built;
    const auto site = built.site("ready", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).suspend(100, 1, site);
    built.on(1).spawn(110, 9).resume(110, 9).resume(300, 1, 9).finish(350, 1, 9).finish(400, 9);
    const auto loaded = load(built);
    const analysis::await_info& woken = await(loaded, task(loaded, 1), 0);
    CHECK(id_of(loaded, woken.waker) == 9);
    CHECK_FALSE(woken.wake_ns.has_value());
    check_time(task(loaded, 1).time, 150, 0, 0, 200);
    check_time(task(loaded, 9).time, 240, 50, 0, 0);
    const std::string story = analysis::task_text(loaded, index_of(loaded, 1), {});
    CHECK(story.find("by the resume") != std::string::npos);
    const auto sites = analysis::await_statistics(loaded);
    REQUIRE(sites.size() == 2);
    CHECK(sites[0].name == "ready");
    CHECK(sites[0].times.unknown_wakes == 0);
    CHECK(sites[0].times.wakes_by_resume == 1);
    CHECK(analysis::to_csv(analysis::list_await_sites(loaded, sites)).find(",0,1,0,0,a.cpp:5\n") !=
          std::string::npos);
}

TEST_CASE(
    "resumes in a task's own code are awaits of the task, at the places of the resumed tasks") {
    trace_builder built;
    const auto item = built.site("next", "g.cpp", 3, trace::site_kind::coroutine);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(10, 2, item, 0, 1);
    built.on(1)
        .resume(100, 2, 1)
        .suspend(120, 2, 0, 1)
        .resume(200, 2, 1)
        .finish(230, 2, 1)
        .finish(300, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 250, 50, 0, 0);
    REQUIRE(task(loaded, 1).awaits.size() == 2);
    for (const std::size_t at : {0U, 1U}) {
        const analysis::await_info& resumed = await(loaded, task(loaded, 1), at);
        CHECK(resumed.handed_over);
        CHECK(id_of(loaded, resumed.awaited) == 2);
    }
    const auto rows = analysis::await_statistics(loaded);
    const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& each) {
        return each.name == "next (resumed in place)";
    });
    REQUIRE(row != rows.end());
    CHECK(row->times.count == 2);
    CHECK(row->times.suspended_ns == 50);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 0);
    check_sound(loaded);
}

TEST_CASE(
    "a chain of tasks that resume each other as they end is one hand-over of the task below") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 8).spawn(0, 9).resume(0, 8).suspend(10, 8, site).resume(20, 1);
    built.on(1).resume(100, 9, 1).finish(150, 9, 1).resume(152, 8, 9).finish(200, 8, 9).finish(300,
                                                                                               1);
    const auto loaded = load(built);
    REQUIRE(task(loaded, 1).awaits.size() >= 1);
    const analysis::index_range awaits = task(loaded, 1).awaits;
    const analysis::await_info& resumed = loaded.awaits[awaits[awaits.size() - 1]];
    CHECK(resumed.suspend_ns == 100);
    CHECK(resumed.resume_ns == analysis::optional_ns(200));
    CHECK(id_of(loaded, resumed.awaited) == 9);
    CHECK(id_of(loaded, resumed.waker) == 8);
    CHECK(task(loaded, 1).slices.size() == 2);
}

TEST_CASE("a chain of tasks that go on by symmetric transfer is one hand-over of the task below") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1)
        .spawn(0, 8)
        .spawn(0, 9)
        .resume(0, 8)
        .suspend(10, 8, site)
        .spawn(20, 1)
        .resume(20, 1);
    built.on(1).resume(100, 9, 1);
    SUBCASE("out of a foreign final suspension") {
        built.on(1).finish(150, 9, 1).resume(152, 8, 1, trace::resume_handed_over);
    }
    SUBCASE("out of a foreign await") {
        built.on(1).suspend(150, 9, site, 1).resume(152, 8, 1, trace::resume_handed_over);
    }
    SUBCASE("out of our own final suspension") { built.on(1).finish_transfer(150, 9, 8); }
    SUBCASE("a task of the chain resumes another one itself") {
        built.on(1).finish_transfer(150, 9, 8);
        built.on(1).spawn(160, 7, 0, trace::spawn_started, 8).finish(170, 7, 8);
    }
    built.on(1).finish(200, 8, 1).finish(300, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 180, 100, 0, 0);
    REQUIRE(task(loaded, 1).awaits.size() == 1);
    const analysis::await_info& resumed = await(loaded, task(loaded, 1), 0);
    CHECK(resumed.suspend_ns == 100);
    CHECK(resumed.resume_ns == analysis::optional_ns(200));
    CHECK(id_of(loaded, resumed.awaited) == 9);
    CHECK(id_of(loaded, resumed.waker) == 8);
    CHECK(task(loaded, 1).slices.size() == 2);
    check_sound(loaded);
}

TEST_CASE(
    "a task that another task awaits is not awaited by its creator, even if its end resumes it") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(10, 2, 0, 0, 1).spawn(20, 3, 0, 0, 1);
    built.on(1).suspend(30, 1, site).resume(31, 3, 1).suspend(40, 3, site, 1);
    built.on(1).resume(41, 2, 3, trace::resume_handed_over).suspend(50, 2, site, 1);
    built.on(2).resume(100, 2).finish(150, 2).resume(152, 3, 2).finish(160, 3, 2);
    built.on(2).resume(162, 1, 2).finish(200, 1, 2);  // by a coroutine that is not instrumented
    const auto loaded = load(built);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 3);
    CHECK(id_of(loaded, await(loaded, task(loaded, 3), 0).awaited) == 2);
    CHECK(await(loaded, task(loaded, 1), 0).waker == analysis::none);  // 2 or 3
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 0).awaited) == 3);
    CHECK(id_of(loaded, task(loaded, 3).awaiter) == 1);
    check_sound(loaded);
}

TEST_CASE("if an ended task resumes several tasks in turn, only the first one is known to have "
          "waited until then") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(2).spawn(0, 1).resume(0, 1).spawn(5, 3, 0, 0, 1).suspend(10, 1, site);
    built.on(3).spawn(0, 2).resume(0, 2).spawn(5, 4, 0, 0, 2).suspend(10, 2, site);
    std::uint32_t first = 0;
    SUBCASE("the task that created it") { first = 1; }
    SUBCASE("another task") { first = 2; }
    const std::uint32_t second = 3 - first, ended = 2 + first;
    built.on(1).resume(20, ended).finish(100, ended);
    built.on(1).resume(101, first, ended).finish(150, first, ended);
    built.on(1).resume(152, second, ended).finish(200, second, ended);
    const auto loaded = load(built);
    check_time(task(loaded, first).time, 59, 91, 0, 0);
    check_time(task(loaded, second).time, 58, 0, 0, 142);
    CHECK(id_of(loaded, await(loaded, task(loaded, first), 0).waker) == ended);
    CHECK(await(loaded, task(loaded, second), 0).waker == analysis::none);
    CHECK_FALSE(await(loaded, task(loaded, second), 0).wake_ns);
    check_sound(loaded);
}

TEST_CASE("a task that is resumed in the suspension of a task that it did not create or start may "
          "have been ready before") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(2).spawn(0, 1).resume(0, 1).suspend(10, 1, site);
    built.on(1).spawn(0, 2).resume(0, 2);
    SUBCASE("of an await, in place") {
        built.on(1).suspend(100, 2, site).resume(101, 1, 2).finish(200, 1, 2);
    }
    SUBCASE("of an await, by a transfer") {
        built.on(1).suspend(100, 2, site).resume(101, 1, 0, trace::resume_handed_over);
        built.on(1).finish(200, 1);
    }
    SUBCASE("the last one, in place") {
        built.on(1).finish(100, 2).resume(101, 1, 2).finish(200, 1, 2);
    }
    SUBCASE("the last one, by a transfer") {
        built.on(1).finish(100, 2).resume(101, 1, 0, trace::resume_handed_over).finish(200, 1);
    }
    const auto loaded = load(built);
    const analysis::await_info& resumed = await(loaded, task(loaded, 1), 0);
    check_time(task(loaded, 1).time, 109, 0, 0, 91);
    CHECK(id_of(loaded, resumed.waker) == 2);
    CHECK_FALSE(resumed.wake_ns);
    CHECK(resumed.awaited == analysis::none);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 0);
    check_sound(loaded);
}

TEST_CASE("a scheduler that takes ready tasks in the suspensions of others wakes none of them") {
    trace_builder built;
    const auto site = built.site("sleep", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(1, 2).suspend(10, 1, site).resume(11, 2, 1);
    built.on(1).suspend(50, 2, site).resume(51, 1, 2).finish(90, 1, 2);
    built.on(1).resume(91, 2, 1).finish(100, 2, 1);
    const auto loaded = load(built);
    for (const std::uint32_t sleeper : {1U, 2U}) {
        check_time(task(loaded, sleeper).time, sleeper == 1 ? 49 : 48, 0, 0, 41);
        CHECK_FALSE(await(loaded, task(loaded, sleeper), 0).wake_ns);
        CHECK(id_of(loaded, task(loaded, sleeper).awaiter) == 0);
    }
    check_sound(loaded);
}

TEST_CASE("a generator that a task created wakes it when it yields") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(5, 2, 0, 0, 1).suspend(10, 1, site);
    built.on(1).resume(11, 2, 1).suspend(50, 2, site).resume(51, 1, 2).finish(90, 1, 2);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 49, 41, 0, 0);
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 0).waker) == 2);
    CHECK(await(loaded, task(loaded, 1), 0).wake_ns == 51);
    check_sound(loaded);
}

TEST_CASE("the end of a task that another task created wakes the await that started it") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 2).spawn(5, 1).resume(6, 1).suspend(10, 1, site);
    built.on(1).resume(11, 2, 1).finish(50, 2, 1).resume(51, 1, 2).finish(90, 1, 2);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 43, 41, 0, 0);
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 0).waker) == 2);
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 0).awaited) == 2);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 1);
    check_sound(loaded);
}

TEST_CASE("a join whose wake is unknown awaits the child that ended last") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1).spawn(10, 2, 0, 0, 1).spawn(20, 3, 0, 0, 1);
    built.on(1).suspend(30, 1, site);
    std::uint64_t last = 0;
    SUBCASE("the first child") { last = 2; }
    SUBCASE("the second child") { last = 3; }
    built.on(1).resume(31, 2, 1).suspend(40, 2, site, 1).resume(41, 3, 1).suspend(50, 3, site, 1);
    built.on(2).resume(100, 5 - last).finish(150, 5 - last).resume(160, last).finish(200, last);
    built.on(2).resume(201, 1).finish(300, 1);
    const auto loaded = load(built);
    CHECK_FALSE(await(loaded, task(loaded, 1), 0).wake_ns);
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 0).awaited) == last);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 1);
    CHECK(id_of(loaded, task(loaded, 3).awaiter) == 1);
    check_sound(loaded);
}

TEST_CASE("a task runs between the children that it creates and that start at once") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1);
    built.on(1).spawn(10, 2, 0, trace::spawn_started, 1).suspend(15, 2, site, 1);
    built.on(1).spawn(55, 3, 0, trace::spawn_started, 1).suspend(60, 3, site, 1).finish(100, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 90, 10, 0, 0);
    CHECK(task(loaded, 1).awaits.size() == 2);
    CHECK(task(loaded, 1).slices.size() == 3);
    check_sound(loaded);
}

TEST_CASE(
    "a task that is resumed and ends inside another one's await is not the waker of that one") {
    trace_builder built;
    const auto push = built.site("push", "a.cpp", 5, trace::site_kind::await);
    const auto pop = built.site("pop", "a.cpp", 7, trace::site_kind::await);
    built.on(1).spawn(0, 2).resume(0, 2).suspend(10, 2, pop);
    built.on(1)
        .spawn(20, 1)
        .resume(20, 1)
        .suspend(100, 1, push)
        .resume(100, 2, 1)
        .finish(150, 2, 1);
    built.on(1).cancel(150, 1).finish(200, 1);
    const auto loaded = load(built);
    const analysis::await_info& pushed = await(loaded, task(loaded, 1), 0);
    check_time(task(loaded, 1).time, 130, 50, 0, 0);
    CHECK(pushed.awaited == analysis::none);
    CHECK(pushed.waker == analysis::none);
    CHECK(id_of(loaded, task(loaded, 2).awaiter) == 0);
    CHECK(id_of(loaded, await(loaded, task(loaded, 2), 0).waker) == 1);
}

TEST_CASE("each of twenty nested awaits that complete in place has its awaited task") {
    constexpr std::uint64_t depth = 20;  // more than a thread's timeline remembers
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 1).resume(0, 1);
    std::int64_t now = 10;
    for (std::uint64_t id = 1; id < depth; ++id, now += 10)
        built.on(1)
            .spawn(now, id + 1, 0, 0, id)
            .suspend(now + 5, id, site, id - 1)
            .resume(now + 5, id + 1, id);
    for (std::uint64_t id = depth; id > 1; --id, now += 10)
        built.on(1).finish(now, id, id - 1).cancel(now, id - 1);
    built.on(1).finish(now, 1);
    const auto loaded = load(built);
    CHECK(running_ns(loaded) == now);
    for (std::uint64_t id = 1; id < depth; ++id) {
        CAPTURE(id);
        CHECK_FALSE(task(loaded, id).losses);
        REQUIRE(task(loaded, id).awaits.size() == 1);
        CHECK(id_of(loaded, await(loaded, task(loaded, id), 0).awaited) == id + 1);
    }
    check_sound(loaded);
}

TEST_CASE("a scope's running time is that of its task, and not of tasks on top of it") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner");
    built.on(1)
        .resume(100, 1)
        .spawn(200, 2, 0, trace::spawn_started, 1)
        .scope(inner, 210, 290)
        .suspend(300, 2, 0, 1)
        .scope(outer, 150, 450)
        .finish(500, 1);
    const auto loaded = load(built);
    const analysis::event& scope = event(loaded, "outer");
    REQUIRE(scope.detail != analysis::none);
    check_time(loaded.details[scope.detail].time, 200, 100, 0, 0);
    CHECK(scope.self_running_ns == 200);
    CHECK(event(loaded, "inner").detail == analysis::none);
    check_sound(loaded);
}

TEST_CASE("tasks that resume each other in place lose nothing however deep they nest") {
    constexpr std::uint64_t depth = 5000;
    trace_builder built(std::size_t{1} << 20);
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    thread_writer on = built.on(1);
    on.spawn(0, 1).resume(0, 1);
    std::int64_t at = 0;
    for (std::uint64_t id = 1; id < depth; ++id) {
        at += 10;
        on.spawn(at, id + 1, 0, 0, id).suspend(at, id, site, id - 1).resume(at, id + 1, id);
    }
    for (std::uint64_t id = depth; id > 1; --id) {
        at += 10;
        on.finish(at, id, id - 1).cancel(at, id - 1);
    }
    on.finish(at + 10, 1);
    const auto loaded = load(built);
    CHECK(running_ns(loaded) == at + 10);
    CHECK(loaded.awaits.size() == depth - 1);
    std::size_t wrong = 0;
    for (const analysis::task_info& each : loaded.tasks)
        if (each.losses || id_of(loaded, each.awaiter) + 1 != each.id) ++wrong;
    CHECK(wrong == 0);
    check_sound(loaded);
}

TEST_CASE("a task that first runs after the awaiting frame was destroyed is not awaited") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, site)
        .finish(110, 1, 1, trace::finish_destroyed)
        .spawn(120, 2, 0, 0, 1)
        .resume(130, 2, 1)
        .finish(140, 2, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 2).awaiter == analysis::none);
    const analysis::await_info& last = await(loaded, task(loaded, 1), 0);
    CHECK(last.awaited == analysis::none);
    CHECK_FALSE(last.handed_over);
    check_sound(loaded);
}

TEST_CASE("a task runs between children that start on creation and suspend") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1)
        .spawn(0, 1)
        .resume(0, 1)
        .spawn(100, 2, 0, trace::spawn_started, 1)
        .suspend(110, 2, site, 1)
        .spawn(500, 3, 0, trace::spawn_started, 1)
        .suspend(520, 3, site, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 100 + 390 + 180, 10 + 20, 0, 0);
    REQUIRE(task(loaded, 1).awaits.size() == 2);
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 0).awaited) == 2);
    CHECK(id_of(loaded, await(loaded, task(loaded, 1), 1).awaited) == 3);
    CHECK(running_ns(loaded) == 700);
    check_sound(loaded);
}
