// SPDX-License-Identifier: Apache-2.0

// Critical paths that go on in the work that held a lock or a resource.

#include <coroscope/analysis/critical_path.hpp>

#include <string>
#include <variant>

#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "loaded_trace.hpp"
#include "path_texts.hpp"

using namespace coroscope;
using analysis::critical_path;
using test::loaded;
using test::path_of;
using test::texts;
using test::texts_of;

namespace {

// Task 1 on thread 1 waits from 90 to 310 for a lock. Task 2 on thread 2 runs `audit.flush` then.
analysis::trace contended() {
    test::trace_builder built;
    const auto hold = built.site("audit.flush", "audit.cpp", 7);
    built.on(1).spawn(0, 1, 0, trace::spawn_started).finish(400, 1);
    built.on(2).spawn(0, 2, 0, trace::spawn_started).scope(hold, 50, 300).finish(350, 2);
    analysis::trace from = loaded(built.lasts(1000));
    analysis::lock_wait wait;
    wait.start_ns = 90;
    wait.end_ns = 310;
    wait.address = 0x7f10;
    wait.kind = trace::lock_kind::mutex;
    wait.waiter = {0, *analysis::find_task(from, 1), analysis::none};
    wait.holder_os_id = from.threads[1].os_id;
    wait.holder = {1, *analysis::find_task(from, 2), 0};
    from.lock_waits.push_back(wait);
    return from;
}

std::string causes_of(const analysis::trace& from, const critical_path& path) {
    std::string text;
    for (const auto& row : analysis::list_path(from, path).rows)
        if (const auto* cause = std::get_if<std::string>(&row[8])) text += *cause + "\n";
    return text;
}

}  // namespace

TEST_SUITE("critical path through locks") {
    TEST_CASE("a wait for a lock goes on in its holder") {
        const analysis::trace from = contended();
        const critical_path path = path_of(from, 1);
        CHECK(texts_of(from, path) == texts{"0-90 running 1", "90-300 running 2",
                                            "300-310 running 2", "310-400 running 1"});
        REQUIRE(path.waits.size() == 1);
        CHECK(path.waits[0].edge == analysis::path_edge::lock);
        CHECK(path.waits[0].start_ns == 90);
        CHECK(path.waits[0].end_ns == 310);
        CHECK(path.segments[1].through == 0);
        CHECK(path.segments[1].event == 0);
        CHECK(path.segments[0].through == analysis::none);
    }

    TEST_CASE("the views name the task that waited, and the lock") {
        const analysis::trace from = contended();
        const critical_path path = path_of(from, 1);
        CHECK(causes_of(from, path)
                  .find("holds mutex 0x7f10, for which unknown in task 1 (unknown) waits") !=
              std::string::npos);
        const std::string json = analysis::path_json(from, path);
        CHECK(json.find("\"through\": 0") != std::string::npos);
        CHECK(json.find("\"edge\": \"lock\"") != std::string::npos);
    }

    TEST_CASE("after the release the task that waited is on the path again") {
        analysis::trace from = contended();
        from.lock_waits[0].released_ns = 250;
        from.lock_waits[0].releaser = from.lock_waits[0].holder;
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-90 running 1", "90-250 running 2", "250-400 running 1"});
    }

    TEST_CASE("without the option the wait stays in the task") {
        const analysis::trace from = contended();
        analysis::request_info request;
        request.task = *analysis::find_task(from, 1);
        request.end_ns = 400;
        const auto paths =
            analysis::critical_paths(from, {&request, 1}, {.through_holders = false});
        CHECK(texts_of(from, paths[0]) == texts{"0-400 running 1"});
        CHECK(paths[0].waits.empty());
    }

    TEST_CASE("a holder that is not in the trace leaves the wait in the task") {
        analysis::trace from = contended();
        from.lock_waits[0].holder = {};
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-400 running 1"});
    }

    TEST_CASE("a holder whose task has ended explains the wait up to that end") {
        analysis::trace from = contended();
        from.tasks[*analysis::find_task(from, 2)].end_ns = 200;
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-90 running 1", "90-200 running 2", "200-400 running 1"});
    }

    TEST_CASE("a deadlock of two tasks ends the walk") {
        analysis::trace from = contended();
        analysis::lock_wait other = from.lock_waits[0];
        std::swap(other.waiter, other.holder);
        from.lock_waits.push_back(other);
        const critical_path path = path_of(from, 1);
        CHECK(texts_of(from, path) == texts{"0-90 running 1", "90-300 running 2",
                                            "300-310 running 2", "310-400 running 1"});
    }

    TEST_CASE("an await of an asynchronous mutex without a known wake goes on in its holder") {
        test::trace_builder built;
        const auto mutex = built.site("cache", "", 0, trace::site_kind::resource, "", "mutex");
        const auto lock = built.site("lock", "cache.cpp", 3, trace::site_kind::await);
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1, lock);
        built.on(2).spawn(0, 2, 0, trace::spawn_started).finish(350, 2);
        built.on(1).resume(320, 1).resource_wait(90, 325,
                                                 {.site = mutex,
                                                  .waiter = trace::make_mark(1, 1),
                                                  .holder = trace::make_mark(2, 2),
                                                  .releaser = trace::make_mark(2, 2),
                                                  .released = 300});
        built.on(1).finish(400, 1);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 1);
        CHECK(texts_of(from, path) == texts{"0-100 running 1", "100-300 running 2",
                                            "300-320 waiting 1", "320-400 running 1"});
        CHECK(causes_of(from, path)
                  .find("holds resource cache, for which lock in task 1 (unknown) waits") !=
              std::string::npos);
        CHECK(analysis::path_json(from, path).find("\"resource\": \"cache\"") != std::string::npos);
    }

    TEST_CASE("a thread that waits for the result of a future was woken by its producer") {
        test::trace_builder built;
        const auto result = built.site("future", "", 0, trace::site_kind::resource, "", "future");
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started)
            .resource_wait(90, 325,
                           {.site = result,
                            .waiter = trace::make_mark(1, 1),
                            .releaser = trace::make_mark(2, 2),
                            .released = 300});
        built.on(1).finish(400, 1);
        built.on(2).spawn(0, 2, 0, trace::spawn_started).finish(350, 2);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 1);
        CHECK(texts_of(from, path) ==
              texts{"0-90 running 1", "90-300 running 2", "300-400 running 1"});
        REQUIRE(path.waits.size() == 1);
        CHECK(path.waits[0].edge == analysis::path_edge::wake);
        CHECK(path.waits[0].kind == analysis::path_kind::blocked);
        CHECK(causes_of(from, path).empty());
    }

    TEST_CASE("a join whose wake is unknown goes on in the child that ended last") {
        test::trace_builder built;
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).spawn(50, 2, 0, trace::spawn_started, 1).finish(300, 2).resume(310, 1, 2);
        built.on(2).finish(400, 1);
        analysis::trace from = loaded(built);
        from.awaits[0].waker = *analysis::find_task(from, 2);
        from.awaits[0].wake_ns.reset();
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-100 running 1", "100-300 running 2",
                                                        "300-310 waiting 1", "310-400 running 1"});
    }
}
