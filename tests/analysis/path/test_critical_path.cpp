// SPDX-License-Identifier: Apache-2.0

// The critical path of tasks in traces of few records.

#include <coroscope/analysis/critical_path.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>

#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "loaded_trace.hpp"
#include "path_texts.hpp"
#include "simulated_tasks.hpp"

using namespace coroscope;
using analysis::critical_path;
using analysis::path_kind;
using test::loaded;
using test::path_of;
using test::text_of;
using test::texts;
using test::texts_of;

TEST_SUITE("critical path") {
    TEST_CASE("a task that only runs has one segment") {
        test::trace_builder built;
        built.on(1).spawn(100, 1, 0, trace::spawn_started).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"100-400 running 1"});
    }

    TEST_CASE("between a suspension and the wake by a task the path is in the waker") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).spawn(50, 2, 0, trace::spawn_started).wake(300, 1, 2, 2).finish(350, 2);
        built.on(1).resume(320, 1).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-100 running 1", "100-300 running 2",
                                                        "300-320 queued 1", "320-400 running 1"});
    }

    TEST_CASE("a result that waited for the waker's executor was queued there on the path") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).spawn(50, 2, 0, trace::spawn_started).finish(250, 2);
        built.on(2).wake(300, 1, 2, 2 | trace::wake_returned);
        built.on(1).resume(320, 1).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-100 running 1", "100-250 running 2",
                                                        "250-300 queued 2", "300-320 queued 1",
                                                        "320-400 running 1"});
    }

    TEST_CASE("between a waker's end and its wake the task is suspended on the path") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).spawn(50, 2, 0, trace::spawn_started).finish(250, 2).wake(300, 1, 2, 2);
        built.on(1).resume(320, 1).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-100 running 1", "100-250 running 2",
                                                        "250-300 suspended 1", "300-320 queued 1",
                                                        "320-400 running 1"});
    }

    TEST_CASE("a wake from outside tasks leaves the task suspended on the path") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).wake(300, 1, 0, 2);
        built.on(1).resume(320, 1).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-100 running 1", "100-300 suspended 1",
                                                        "300-320 queued 1", "320-400 running 1"});
    }

    TEST_CASE("an await whose wake is unknown is waiting, and blames no work") {
        test::trace_builder built;
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started)
            .suspend(100, 1)
            .resume(320, 1)
            .finish(400, 1);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 1);
        CHECK(texts_of(from, path) ==
              texts{"0-100 running 1", "100-320 waiting 1", "320-400 running 1"});
        CHECK(path.blame.empty());
    }

    TEST_CASE("a child is on the path from its awaiter's suspension on") {
        test::trace_builder built;
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started)
            .spawn(20, 2, 0, 0, 1)
            .transfer(100, 1, 2)
            .finish_transfer(300, 2, 1)
            .finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-100 running 1", "100-300 running 2", "300-400 running 1"});
    }

    TEST_CASE("a waker that was suspended itself leads on to its own waker") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).spawn(50, 2, 0, trace::spawn_started).suspend(120, 2);
        built.on(3).spawn(60, 3, 0, trace::spawn_started).wake(200, 2, 3, 3).finish(210, 3);
        built.on(2).resume(230, 2).wake(300, 1, 2, 2).finish(310, 2);
        built.on(1).resume(300, 1).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-100 running 1", "100-120 running 2",
                                                        "120-200 running 3", "200-230 queued 2",
                                                        "230-300 running 2", "300-400 running 1"});
    }

    TEST_CASE("a task that was spawned during the wait leads back to its spawner") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).spawn(50, 2, 0, trace::spawn_started).spawn(150, 3, 0, 0, 2).finish(160, 2);
        built.on(3).wake(170, 3, 0, 3).resume(200, 3).wake(300, 1, 3, 3).finish(310, 3);
        built.on(1).resume(300, 1).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-100 running 1", "100-150 running 2",
                                                        "150-170 not started 3", "170-200 queued 3",
                                                        "200-300 running 3", "300-400 running 1"});
    }

    TEST_CASE("two tasks that wake each other at one moment end the walk") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).spawn(0, 2, 0, trace::spawn_started).suspend(100, 2);
        built.on(3).wake(200, 1, 2, 3).wake(200, 2, 1, 3);
        built.on(1).resume(200, 1).finish(300, 1);
        built.on(2).resume(200, 2).finish(300, 2);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 1);
        CHECK(path.segments.front().start_ns == 0);
        CHECK(path.segments.back().end_ns == 300);
    }

    TEST_CASE("a queued segment names the tasks that ran on the resuming thread meanwhile") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(1).spawn(110, 2, 0, trace::spawn_started);
        built.on(2).wake(150, 1, 0, 2);
        built.on(1).finish(350, 2).resume(400, 1).finish(500, 1);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 1);
        REQUIRE(path.segments.size() == 4);
        const analysis::path_segment& queued = path.segments[2];
        CHECK(text_of(from, queued) == "150-400 queued 1");
        REQUIRE(queued.blame.size() == 2);
        const analysis::path_blame& first = path.blame[queued.blame[0]];
        CHECK(from.tasks[first.task].id == 2);
        CHECK(first.time_ns == 200);
        const analysis::path_blame& second = path.blame[queued.blame[1]];
        CHECK(second.task == analysis::none);
        CHECK(second.time_ns == 50);
    }

    TEST_CASE("running time is divided by scope and by the state of the thread") {
        test::trace_builder built;
        const auto outer = built.site("outer");
        const auto inner = built.site("inner");
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started)
            .scope(inner, 100, 200)
            .scope(outer, 50, 300)
            .finish(400, 1);
        built.kernel().enters(1, 0).leaves(1, 120).enters(1, 150).preempted(1, 390).enters(1, 395);
        const analysis::trace from = loaded(built.lasts(1000));
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-50 on-CPU 1", "50-100 on-CPU 1", "100-120 on-CPU 1", "120-150 blocked 1",
                    "150-200 on-CPU 1", "200-300 on-CPU 1", "300-390 on-CPU 1",
                    "390-395 preempted 1", "395-400 on-CPU 1"});
    }

    TEST_CASE("text has one row for a scope that was interrupted on its thread") {
        test::trace_builder built;
        const auto outer = built.site("outer");
        const auto inner = built.site("inner");
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started)
            .scope(inner, 100, 200)
            .scope(outer, 50, 300)
            .finish(300, 1);
        built.kernel().enters(1, 0).leaves(1, 120).enters(1, 150).preempted(1, 180).enters(1, 185);
        const analysis::trace from = loaded(built.lasts(1000));
        const critical_path path = path_of(from, 1);
        CHECK(analysis::list_path(from, path).rows.size() == 8);
        const std::string text = analysis::path_text(from, path, {});
        CHECK(text.find("on-CPU, blocked, preempted  inner") != std::string::npos);
        CHECK(text.find("65 ns on-CPU, 30 ns blocked, 5 ns preempted") != std::string::npos);
        const std::size_t rows = text.find("Thread");
        CHECK(text.find("inner", text.find("inner", rows) + 5) == std::string::npos);
    }

    TEST_CASE("a wait that gave up stays in the task, and names the holder") {
        test::trace_builder built;
        const auto hold = built.site("audit.flush");
        built.on(1).spawn(0, 1, 0, trace::spawn_started).finish(400, 1);
        built.on(2).spawn(0, 2, 0, trace::spawn_started).scope(hold, 50, 300).finish(350, 2);
        built.kernel().enters(1, 0).leaves(1, 100).enters(1, 320);
        analysis::trace from = loaded(built.lasts(1000));
        const auto holder = analysis::find_task(from, 2);
        REQUIRE(holder);
        analysis::lock_wait wait;
        wait.start_ns = 90;
        wait.end_ns = 310;
        wait.address = 0x7f10;
        wait.gave_up = true;
        wait.waiter = {0, 0, analysis::none};
        wait.holder_os_id = from.threads[1].os_id;
        wait.holder = {1, *holder, 0};
        from.lock_waits.push_back(wait);
        const critical_path path = path_of(from, 1);
        REQUIRE(path.segments.size() == 3);
        const analysis::path_segment& blocked = path.segments[1];
        CHECK(text_of(from, blocked) == "100-320 blocked 1");
        REQUIRE(blocked.blame.size() == 1);
        const analysis::path_blame& blame = path.blame[blocked.blame[0]];
        CHECK(blame.task == *holder);
        CHECK(blame.event == 0);
        CHECK(blame.time_ns == 210);
        const std::string cause = std::get<std::string>(analysis::list_path(from, path).rows[1][8]);
        CHECK(cause.find("210 ns in ") == 0);
        CHECK(cause.find("0x7f10, held by ") != std::string::npos);
        CHECK(cause.find("audit.flush") != std::string::npos);
    }

    TEST_CASE("the path of a scope begins and ends with it") {
        test::trace_builder built;
        const auto site = built.site("handle");
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started)
            .suspend(100, 1)
            .resume(200, 1)
            .long_scope(site, 50, 250, trace::scope_in_frame | trace::scope_exact, 1, 1)
            .finish(300, 1);
        const analysis::trace from = loaded(built);
        const critical_path path = analysis::critical_path_of_scope(from, 0);
        CHECK(texts_of(from, path) ==
              texts{"50-100 running 1", "100-200 waiting 1", "200-250 running 1"});
        CHECK(path.wall_ns() == 200);
    }

    TEST_CASE("a scope outside tasks has the states of its thread") {
        test::trace_builder built;
        const auto site = built.site("main");
        built.on(1).scope(site, 50, 250);
        built.on(2).scope(site, 60, 240);
        built.kernel().enters(1, 0).leaves(1, 100).enters(1, 200);
        const analysis::trace from = loaded(built.lasts(1000));
        const critical_path path = analysis::critical_path_of_scope(from, 0);
        REQUIRE(path.segments.size() == 3);
        CHECK(path.segments[1].kind == path_kind::blocked);
        CHECK(path.segments[1].start_ns == 100);
        CHECK(path.segments[1].length_ns() == 100);
        CHECK(path.segments[1].event == 0);
    }

    TEST_CASE("the views of a path agree with it") {
        test::trace_builder built;
        const auto await = built.site("db.query", "store.cpp", 42, trace::site_kind::await);
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1, await);
        built.on(2).wake(900, 1, 0, 2);
        built.on(1).resume(1000, 1).finish(1100, 1);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 1);
        CHECK(analysis::path_text(from, path)
                  .find("1.1 us = 200 ns running + 100 ns queued + 800 ns suspended") !=
              std::string::npos);
        CHECK(analysis::path_json(from, path).find("\"wall_ns\": 1100") != std::string::npos);
        const analysis::listing parts = analysis::list_path_parts(from, path);
        REQUIRE(parts.rows.size() == 3);
        CHECK(std::get<std::string>(parts.rows[0][4]) == "db.query");
        CHECK(std::get<std::string>(parts.rows[0][5]) == "store.cpp:42");
    }

    TEST_CASE(
        "the path of ten thousand random task graphs is the one that they were drawn around") {
        std::size_t segments = 0;
        for (std::uint32_t seed = 1; seed <= 10'000; ++seed) {
            const test::simulated_tasks simulated(seed);
            const analysis::trace graph = simulated.graph();
            const critical_path path = analysis::critical_path_of_task(graph, 0);
            std::string expected;
            for (const analysis::path_segment& each : simulated.path())
                expected += text_of(graph, each) + "\n";
            std::string found;
            for (const std::string& each : texts_of(graph, path)) found += each + "\n";
            CAPTURE(seed);
            REQUIRE(found == expected);
            segments += path.segments.size();
        }
        CHECK(segments > 50'000);
    }
}
