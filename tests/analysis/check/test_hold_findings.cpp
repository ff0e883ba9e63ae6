// SPDX-License-Identifier: Apache-2.0

// Findings about locks and resources that other work holds.

#include <coroscope/analysis/findings.hpp>

#include <string_view>

#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::only_finding;
using test::us;

namespace {

constexpr int delayed_requests = 10;
constexpr std::uint64_t first_holder = 1000;

enum class holder { computes, waits, waits_without_wake };

/// Each request waits on thread 1 for a resource of that category, which a task on thread 2 holds
/// in the scope `flush` for that time, for each second request in the scope `second`. After that the
/// request waits for 5 ms.
checked_service service_behind(std::string_view category, holder does, std::int64_t held_ns,
                               std::string_view second = "flush") {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto resource = built.site("cache", "", 0, trace::site_kind::resource, "", category);
    const auto acquire = service.await_named("acquire");
    const auto query = service.await_named("query");
    const auto disk = service.await_named("disk");
    const auto audit = built.site("audit", "audit.cpp", 8, trace::site_kind::coroutine);
    for (int request = 0; request < delayed_requests; ++request) {
        const auto flush = built.site(request % 2 == 0 ? "flush" : second, "audit.cpp", 9);
        const std::uint64_t task = service.begin();
        const std::uint64_t owner = first_holder + static_cast<std::uint64_t>(request);
        const std::int64_t from = service.now + us;
        const std::int64_t to = from + held_ns;
        auto holding = built.on(2);
        holding.spawn(from - us, owner, audit, trace::spawn_started);
        built.on(1).suspend(from, task, acquire);
        if (does != holder::computes) {
            holding.suspend(from + us, owner, disk);
            if (does == holder::waits) built.on(3).wake(to - us, owner, 0, 3);
            holding.resume(to - us, owner);
        }
        holding.long_scope(flush, from - us, to, trace::scope_in_frame | trace::scope_exact, owner);
        holding.wake(to, task, owner, 2).finish(to + us, owner);
        built.on(1).resume(to, task).resource_wait(from, to,
                                                   {.site = resource,
                                                    .waiter = trace::make_mark(task, 1),
                                                    .holder = trace::make_mark(owner, 2),
                                                    .releaser = trace::make_mark(owner, 2),
                                                    .released = to});
        service.now = to + us;
        service.wait(query, 5 * ms);
        service.end();
    }
    return service;
}

analysis::findings checked(std::string_view category, holder does, std::int64_t held_ns) {
    return analysis::check(service_behind(category, does, held_ns).trace());
}

void check_holder(const analysis::finding& found) {
    CHECK(found.cause.label == "flush");
    CHECK(found.count == delayed_requests);
    CHECK(found.cost_ns > delayed_requests * 4 * ms);
    CHECK(found.cost_ns <= delayed_requests * 5 * ms);
    REQUIRE(found.victims.size() == 1);
    CHECK(found.victims.front().place.label == "GET /item");
    CHECK(found.victims.front().count == delayed_requests);
}

/// Each request runs for 2 ms and waits on its thread for a lock of the C library from 0.1 ms on. A
/// task on thread 2 holds the lock in the scope `flush` for that time.
analysis::trace behind_lock(std::int64_t held_ns) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto flush = built.site("flush", "audit.cpp", 9);
    for (int request = 0; request < delayed_requests; ++request) {
        service.begin();
        const std::uint64_t owner = first_holder + static_cast<std::uint64_t>(request);
        const std::int64_t from = service.now;
        built.on(2).spawn(from, owner, 0, trace::spawn_started);
        built.on(2).scope(flush, from + us, from + 100 * us + held_ns);
        service.now = from + held_ns + 2 * ms;
        built.on(2).finish(service.now, owner);
        service.end();
    }
    analysis::trace from = service.trace();
    const analysis::trace& made = from;
    for (std::uint32_t at = 0; at < made.events.size(); ++at) {
        const analysis::event& scope = made.events[at];
        if (made.strings[scope.name] != "flush") continue;
        const std::uint64_t holder_id = made.tasks[scope.task].id;
        analysis::lock_wait wait;
        wait.start_ns = scope.end_ns - held_ns;
        wait.end_ns = scope.end_ns;
        wait.address = 0x7f10;
        wait.kind = trace::lock_kind::mutex;
        wait.waiter = {0, *analysis::find_task(made, holder_id - first_holder + 1), analysis::none};
        wait.holder_os_id = made.threads[scope.thread].os_id;
        wait.holder = {scope.thread, scope.task, at};
        from.lock_waits.push_back(wait);
    }
    return from;
}

}  // namespace

TEST_SUITE("findings about holders") {
    TEST_CASE("a holder whose wake was lost is no cause: it may have waited for a processor") {
        analysis::trace from = service_behind("mutex", holder::waits_without_wake, 5 * ms).trace();
        CHECK(finding_of(analysis::check(from), "lock-held-across-wait") != nullptr);
        from.health.overwritten = 1;
        CHECK(finding_of(analysis::check(from), "lock-held-across-wait") == nullptr);
    }

    TEST_CASE("a lock whose holder computes is contended") {
        const analysis::findings found = checked("mutex", holder::computes, 5 * ms);
        const analysis::finding only = only_finding(found, "contended-lock");
        check_holder(only);
        CHECK(only.title.find("keeps `cache` for long") != std::string::npos);
    }

    TEST_CASE("if the paths have too many segments, an evenly chosen part of the requests counts") {
        const analysis::trace from = service_behind("mutex", holder::computes, 5 * ms).trace();
        const auto followed_with = [&](std::size_t most_segments) {
            const auto found = analysis::check(from, {.most_segments = most_segments});
            CHECK(found.whole_requests == delayed_requests);
            const analysis::finding only = only_finding(found, "contended-lock");
            CHECK(only.count == found.requests);
            CHECK(only.victims.front().count == found.requests);
            CHECK(only.cause.label == "flush");
            return found.requests;
        };
        CHECK(followed_with(1'000) == delayed_requests);
        CHECK(followed_with(20) < delayed_requests);
        CHECK(followed_with(20) > 1);
    }

    TEST_CASE("a lock whose holder is suspended is held across a wait") {
        const analysis::findings found = checked("mutex", holder::waits, 5 * ms);
        const analysis::finding only = only_finding(found, "lock-held-across-wait");
        check_holder(only);
    }

    TEST_CASE(
        "each holder of a lock is named with the waits for it, and not with those for others") {
        const analysis::findings found =
            analysis::check(service_behind("mutex", holder::computes, 5 * ms, "render").trace());
        REQUIRE(found.found.size() == 2);
        for (const analysis::finding& each : found.found) {
            CHECK(each.rule->id == "contended-lock");
            CHECK(each.count == delayed_requests / 2);
            CHECK(each.cost_ns <= delayed_requests / 2 * 5 * ms);
        }
        CHECK(found.found[0].cause.label != found.found[1].cause.label);
    }

    TEST_CASE("elements of a pool that others keep are exhausted, whatever the holder does") {
        for (const std::string_view category : {"pool", "semaphore"})
            for (const holder does : {holder::computes, holder::waits})
                check_holder(only_finding(checked(category, does, 5 * ms), "pool-exhausted"));
    }

    TEST_CASE("short waits for a lock or a pool are no fault") {
        for (const std::string_view category : {"mutex", "pool"})
            for (const holder does : {holder::computes, holder::waits})
                CHECK(checked(category, does, 100 * us).found.empty());
    }

    TEST_CASE("a lock of the C library whose holder computes is contended") {
        const analysis::trace from = behind_lock(5 * ms);
        const analysis::findings found = analysis::check(from);
        const analysis::finding only = only_finding(found, "contended-lock");
        check_holder(only);
        CHECK(only.title.find("the lock 0x7f10") != std::string::npos);
        CHECK(analysis::check(behind_lock(50 * us)).found.empty());
    }

    TEST_CASE("rules about holders do not run if no wait for a lock or a pool was recorded") {
        checked_service service;
        service.begin();
        service.end();
        const analysis::findings found = analysis::check(service.trace());
        for (const std::string_view rule :
             {"contended-lock", "lock-held-across-wait", "pool-exhausted"})
            CHECK(test::could_not_run(found, rule));
    }
}
