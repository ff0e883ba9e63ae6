// SPDX-License-Identifier: Apache-2.0

// Findings about timers: polling, attempts, time-outs.

#include <coroscope/analysis/findings.hpp>

#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::us;
using trace::await_outcome;

namespace {

constexpr int trying_requests = 10;

analysis::findings with_timers(int timers) {
    checked_service service;
    const auto look = service.await_named("look for job");
    const auto query = service.await_named("query");
    for (int request = 0; request < trying_requests; ++request) {
        service.begin();
        for (int timer = 0; timer < timers; ++timer) service.delay(look, 2 * ms);
        service.wait(query, ms);
        service.end();
    }
    return analysis::check(service.trace());
}

/// Each request makes a call again after a delay of 3 ms. The wakes of the second calls are lost.
analysis::trace with_lost_wakes() {
    checked_service service;
    const auto charge = service.await_named("charge");
    const auto back_off = service.await_named("back-off");
    for (int request = 0; request < trying_requests; ++request) {
        const std::uint64_t task = service.begin();
        service.wait(charge, ms);
        service.delay(back_off, 3 * ms);
        service.built.on(1).suspend(service.now, task, charge);
        service.now += 20 * ms;
        service.built.on(1).resume(service.now, task);
        service.end();
    }
    return service.trace();
}

/// Each request makes three calls, with growing delays between them.
analysis::findings with_attempts(await_outcome outcome, bool of_one_kind) {
    checked_service service;
    const auto charge = service.await_named("charge");
    const auto others = {service.await_named("refund"), service.await_named("notify")};
    const auto back_off = service.await_named("back-off");
    for (int request = 0; request < trying_requests; ++request) {
        service.begin();
        service.wait(charge, ms, outcome);
        std::int64_t delay_ns = 2 * ms;
        for (const auto other : others) {
            service.delay(back_off, delay_ns);
            service.wait(of_one_kind ? charge : other, ms, outcome);
            delay_ns *= 2;
        }
        service.end();
    }
    return analysis::check(service.trace());
}

/// Each request waits for a quote. In some of them a task that a timer woke cancels the wait after
/// 4 ms.
analysis::trace with_time_outs(int late, await_outcome outcome) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto quote = service.await_named("quote");
    const auto time_out = service.await_named("quote time-out");
    for (int request = 0; request < trying_requests; ++request) {
        const std::uint64_t task = service.begin();
        const bool is_late = request < late;
        const std::uint64_t guard = 1000 + task;
        const std::int64_t from = service.now + us;
        const std::int64_t to = from + (is_late ? 4 * ms : ms);
        built.on(2).spawn(from - us, guard, 0, trace::spawn_started).suspend(from, guard, time_out);
        built.on(1).suspend(from, task, quote);
        if (is_late) {
            service.expire(2, to, guard);
            built.on(2).resume(to, guard).wake(to + us, task, guard, 2 | trace::wake_cancel);
        } else {
            built.on(3).wake(to + us, task, 0, 3).wake(to + us, guard, 0, 3 | trace::wake_cancel);
            built.on(2).resume(to + 2 * us, guard);
        }
        built.on(2).finish(to + 3 * us, guard);
        built.on(1).resume(to + us, task, 0, trace::make_outcome(outcome));
        service.now = to + 10 * us;
        service.end();
    }
    return service.trace();
}

}  // namespace

TEST_SUITE("findings about attempts") {
    TEST_CASE("timers that a request awaits again and again are polling") {
        const analysis::findings found = with_timers(6);
        const analysis::finding* const polling = finding_of(found, "polling");
        REQUIRE(polling != nullptr);
        CHECK(polling->cause.label == "look for job");
        CHECK(polling->count == trying_requests * 6);
        CHECK(polling->cost_ns == trying_requests * 6 * 2 * ms);
    }

    TEST_CASE("one delay in a request is no polling") { CHECK(with_timers(1).found.empty()); }

    TEST_CASE("a call that is made again after a growing delay is an attempt") {
        for (const await_outcome outcome : {await_outcome::error, await_outcome::unknown}) {
            const analysis::findings found = with_attempts(outcome, true);
            const analysis::finding* const retries = finding_of(found, "retry-storm");
            REQUIRE(retries != nullptr);
            CHECK(retries->cause.label == "back-off");
            CHECK(retries->count == trying_requests * 3);
            CHECK(retries->cost_ns == trying_requests * (8 * ms + 2 * us));
            CHECK(finding_of(found, "polling") == nullptr);
        }
    }

    TEST_CASE("attempts whose wakes were lost are not compared with their delays") {
        analysis::trace from = with_lost_wakes();
        CHECK(finding_of(analysis::check(from), "retry-storm") != nullptr);
        from.health.dropped_newest = 1;
        CHECK(finding_of(analysis::check(from), "retry-storm") == nullptr);
    }

    TEST_CASE("different calls with delays between them are no attempts") {
        const analysis::findings found = with_attempts(await_outcome::value, false);
        CHECK(finding_of(found, "retry-storm") == nullptr);
        CHECK(finding_of(found, "polling") == nullptr);
    }

    TEST_CASE("a time-out that cancels most of the attempts that it guards is named") {
        const analysis::trace from = with_time_outs(8, await_outcome::cancelled);
        const analysis::findings found = analysis::check(from);
        const analysis::finding* const time_out = finding_of(found, "timeouts");
        REQUIRE(time_out != nullptr);
        CHECK(time_out->cause.label == "quote time-out");
        CHECK(time_out->count == 8);
        CHECK(time_out->cost_ns == 8 * (4 * ms + us));
        REQUIRE(time_out->victims.size() == 1);
        CHECK(time_out->victims.front().place.label == "quote");
    }

    TEST_CASE("a time-out that ends few attempts is in its right") {
        const analysis::findings found =
            analysis::check(with_time_outs(2, await_outcome::cancelled));
        CHECK(finding_of(found, "timeouts") == nullptr);
        CHECK_FALSE(test::could_not_run(found, "timeouts"));
    }

    TEST_CASE("without outcomes of awaits no time-out is looked for") {
        const analysis::findings found = analysis::check(with_time_outs(8, await_outcome::unknown));
        CHECK(finding_of(found, "timeouts") == nullptr);
        CHECK(test::could_not_run(found, "timeouts"));
    }
}
