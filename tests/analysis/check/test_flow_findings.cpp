// SPDX-License-Identifier: Apache-2.0

// Findings about the calls of one request, and about tasks that do not end.

#include <coroscope/analysis/findings.hpp>

#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::us;

TEST_CASE("a call that is awaited in a loop is named, and costs all calls but the longest") {
    checked_service service;
    const auto row = service.await_named("load row");
    for (int request = 0; request < 20; ++request) {
        service.begin();
        for (int call = 0; call < 8; ++call) service.wait(row, ms);
        service.end();
    }
    const analysis::findings found = analysis::check(service.trace());
    const analysis::finding* const loop = finding_of(found, "n-plus-one");
    REQUIRE(loop != nullptr);
    CHECK(loop->cause.label == "load row");
    CHECK(loop->count == 160);
    CHECK(loop->cost_ns == 20 * 7 * ms);
}

TEST_CASE("four equal calls are no loop") {
    checked_service service;
    const auto row = service.await_named("load row");
    for (int request = 0; request < 20; ++request) {
        service.begin();
        for (int call = 0; call < 4; ++call) service.wait(row, ms);
        service.end();
    }
    CHECK(analysis::check(service.trace()).found.empty());
}

TEST_CASE("three different calls in a row are a hint") {
    checked_service service;
    const auto user = service.await_named("user");
    const auto orders = service.await_named("orders");
    const auto offers = service.await_named("offers");
    for (int request = 0; request < 20; ++request) {
        service.begin();
        service.wait(user, 4 * ms);
        service.wait(orders, 6 * ms);
        service.wait(offers, 5 * ms);
        service.end();
    }
    const analysis::findings found = analysis::check(service.trace());
    const analysis::finding* const row = finding_of(found, "sequential-awaits");
    REQUIRE(row != nullptr);
    CHECK(row->severity == analysis::finding_severity::note);
    CHECK(row->cause.label == "orders");
    CHECK(row->cost_ns == 20 * 9 * ms);
}

namespace {

// Task 1000 waits from the first millisecond on, and is never woken. Others end before or after it
// is spawned.
analysis::trace one_left(bool others_come_later, const char* awaited = "reply") {
    checked_service service;
    const auto reply = service.await_named("reply");
    const auto add_others = [&] {
        for (int request = 0; request < 10; ++request) {
            service.begin();
            service.wait(reply, ms);
            service.end();
        }
    };
    if (!others_come_later) add_others();
    service.built.on(3)
        .spawn(service.now, 1000, service.coroutine, trace::spawn_started)
        .suspend(service.now + us, 1000, service.await_named(awaited));
    service.now += ms;
    if (others_come_later) add_others();
    service.now += 50 * ms;
    return service.trace();
}

}  // namespace

TEST_CASE("a wait that later tasks of its kind overtook has lost its wake") {
    const analysis::trace from = one_left(true);
    const analysis::findings found = analysis::check(from);
    const analysis::finding* const lost = finding_of(found, "lost-wake-up");
    REQUIRE(lost != nullptr);
    CHECK(lost->cause.label == "reply");
    CHECK(lost->count == 1);
    CHECK(from.tasks[lost->evidence.front().task].id == 1000);
}

TEST_CASE("the last task of a service that ends has not lost its wake") {
    CHECK(finding_of(analysis::check(one_left(false)), "lost-wake-up") == nullptr);
}

TEST_CASE("a wait that is the only one at its place may be meant to be long") {
    analysis::trace from = one_left(true, "event");
    CHECK(finding_of(analysis::check(from), "lost-wake-up") == nullptr);
}

TEST_CASE("no wake is lost in a trace that lost records, or of one thread only") {
    analysis::trace from = one_left(true);
    from.health.dropped_newest = 1;
    analysis::findings found = analysis::check(from);
    CHECK(finding_of(found, "lost-wake-up") == nullptr);
    CHECK(test::could_not_run(found, "lost-wake-up"));
    CHECK(finding_of(found, "recording-trouble") != nullptr);

    from = one_left(true);
    from.all_threads = false;
    found = analysis::check(from);
    CHECK(finding_of(found, "lost-wake-up") == nullptr);
    CHECK(test::could_not_run(found, "lost-wake-up"));
}

TEST_CASE("a coroutine with a large frame is named") {
    checked_service service;
    const auto query = service.await_named("query");
    service.built.frame_of(service.coroutine, 64 * 1024);
    for (int request = 0; request < 3; ++request) {
        service.begin();
        service.wait(query, ms);
        service.end();
    }
    const analysis::findings found = analysis::check(service.trace());
    const analysis::finding* const frame = finding_of(found, "oversized-frame");
    REQUIRE(frame != nullptr);
    CHECK(frame->cause.label == "serve");
    CHECK(frame->count == 3);
}
