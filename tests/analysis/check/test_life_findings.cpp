// SPDX-License-Identifier: Apache-2.0

// Findings about tasks that are destroyed in the middle of their work, or that never end.

#include <coroscope/analysis/findings.hpp>

#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::us;

namespace {

constexpr std::uint64_t first_left = 1000;

/// Four tasks `upload` are suspended for 3 ms and destroyed, while requests come or after them.
analysis::trace with_destroyed_tasks(bool others_come_later) {
    checked_service service;
    const auto upload = service.built.site("upload", "upload.cpp", 4, trace::site_kind::coroutine);
    const auto query = service.await_named("query");
    const auto add_requests = [&] {
        for (int request = 0; request < 10; ++request) {
            service.begin();
            service.wait(query, ms);
            service.end();
        }
    };
    if (!others_come_later) add_requests();
    for (std::uint64_t task = first_left; task < first_left + 4; ++task)
        service.built.on(3)
            .spawn(service.now, task, upload, trace::spawn_started)
            .suspend(service.now, task, query);
    service.now += 3 * ms;
    for (std::uint64_t task = first_left; task < first_left + 4; ++task)
        service.built.on(3).finish(service.now, task, 0, trace::finish_destroyed);
    service.now += ms;
    if (others_come_later) add_requests();
    return service.trace();
}

/// One task `watch` for each request never ends. All are spawned at the start, or one at a time.
analysis::trace with_watchers(bool all_at_start) {
    checked_service service;
    const auto watch = service.built.site("watch", "watch.cpp", 6, trace::site_kind::coroutine);
    const auto change = service.await_named("change");
    const auto query = service.await_named("query");
    std::int64_t at = service.now;
    for (std::uint64_t request = 0; request < 24; ++request) {
        if (!all_at_start) at = service.now;
        service.built.on(3)
            .spawn(at, first_left + request, watch, trace::spawn_started)
            .suspend(at + us, first_left + request, change);
        at += 2 * us;
        service.begin();
        service.wait(query, ms);
        service.end();
    }
    return service.trace();
}

}  // namespace

TEST_SUITE("findings about the lives of tasks") {
    TEST_CASE("tasks that are destroyed while the service goes on are named") {
        const analysis::trace from = with_destroyed_tasks(true);
        const analysis::findings found = analysis::check(from);
        const analysis::finding* const destroyed = finding_of(found, "destroyed-while-suspended");
        REQUIRE(destroyed != nullptr);
        CHECK(destroyed->cause.label == "upload");
        CHECK(destroyed->count == 4);
        REQUIRE(destroyed->victims.size() == 1);
        CHECK(destroyed->victims.front().time_ns == 4 * 3 * ms);
        CHECK(from.tasks[destroyed->evidence.front().task].id >= first_left);
    }

    TEST_CASE("tasks that are destroyed at the end of the service are no fault") {
        const analysis::findings found = analysis::check(with_destroyed_tasks(false));
        CHECK(finding_of(found, "destroyed-while-suspended") == nullptr);
    }

    TEST_CASE("a session of some threads does not show whether tasks were destroyed early") {
        analysis::trace from = with_destroyed_tasks(true);
        from.all_threads = false;
        const analysis::findings found = analysis::check(from);
        CHECK(finding_of(found, "destroyed-while-suspended") == nullptr);
        CHECK(test::could_not_run(found, "destroyed-while-suspended"));
    }

    TEST_CASE("a task whose records were lost may have ended by itself") {
        analysis::trace from = with_destroyed_tasks(true);
        for (std::size_t at = 0; at < from.tasks.size(); ++at) from.tasks[at].losses = true;
        CHECK(finding_of(analysis::check(from), "destroyed-while-suspended") == nullptr);
    }

    TEST_CASE("tasks that are spawned all the time and never end only grow") {
        const analysis::findings found = analysis::check(with_watchers(false));
        const analysis::finding* const growing = finding_of(found, "growing-tasks");
        REQUIRE(growing != nullptr);
        CHECK(growing->cause.label == "watch");
        CHECK(growing->count == 24);
        CHECK(growing->evidence.front().place.label == "watch");
    }

    TEST_CASE("workers that are spawned at the start do not grow") {
        CHECK(finding_of(analysis::check(with_watchers(true)), "growing-tasks") == nullptr);
    }

    TEST_CASE("live tasks of a trace that lost records may have ended") {
        analysis::trace from = with_watchers(false);
        from.health.dropped_newest = 1;
        const analysis::findings found = analysis::check(from);
        CHECK(finding_of(found, "growing-tasks") == nullptr);
        CHECK(test::could_not_run(found, "growing-tasks"));
    }
}
