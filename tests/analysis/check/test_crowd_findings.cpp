// SPDX-License-Identifier: Apache-2.0

// Findings about tasks that do the same at once, or wait for each other.

#include <coroscope/analysis/findings.hpp>

#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::us;

namespace {

constexpr std::uint64_t first_helper = 1000;

/// Thirty requests find a value, and eight miss it at once. All of these make it in 5 ms, or one
/// does and the others await it.
analysis::trace with_misses(bool all_make_it) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto read = service.await_named("read");
    const auto fill = built.site("cache.fill", "cache.cpp", 5);
    const auto join = built.site("cache.join", "cache.cpp", 6);
    for (int request = 0; request < 30; ++request) {
        service.begin();
        service.wait(read, ms);
        service.end();
    }
    const std::int64_t from = service.now;
    std::uint64_t tasks[8];
    for (int at = 0; at < 8; ++at) {
        tasks[at] = service.begin_at(from + 20 * at * us);
        built.on(1).suspend(from + (20 * at + 10) * us, tasks[at], read);
    }
    for (int at = 0; at < 8; ++at) {
        const std::int64_t start = from + 20 * at * us;
        const std::int64_t end = start + 5 * ms;
        if (all_make_it || at == 0)
            built.on(2).wake(end - us, tasks[at], 0, 2);
        else
            built.on(2).wake(from + 5 * ms - 500, tasks[at], tasks[0], 1);
        built.on(1).resume(end - us, tasks[at]);
        built.on(1).long_scope(all_make_it || at == 0 ? fill : join, start + us, end,
                               trace::scope_in_frame | trace::scope_exact, tasks[at]);
        service.end_at(tasks[at], start, end + us);
    }
    service.now = from + 10 * ms;
    return service.trace();
}

/// Six requests wait for a licence. A thread wakes all of them, or one, in each of six rounds. They
/// run for 0.1 ms one after the other; one of them ends, and the others wait again.
analysis::trace with_licences(bool wakes_all) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto take = service.await_named("licence.take");
    const std::int64_t from = service.now;
    constexpr int waiters = 6;
    std::uint64_t tasks[waiters];
    for (int at = 0; at < waiters; ++at) {
        tasks[at] = service.begin_at(from + 10 * at * us);
        built.on(1).suspend(from + (10 * at + 5) * us, tasks[at], take);
    }
    for (int round = 0; round < waiters; ++round) {
        std::int64_t run = from + (1 + round) * 4 * ms;
        const int last = wakes_all ? waiters : round + 1;
        for (int at = round; at < last; ++at) built.on(2).wake(run, tasks[at], 0, 2);
        for (int at = round; at < last; ++at, run += 101 * us) {
            built.on(1).resume(run, tasks[at]);
            if (at == round)
                service.end_at(tasks[at], from + 10 * at * us, run + 100 * us);
            else
                built.on(1).suspend(run + 100 * us, tasks[at], take);
        }
    }
    service.now = from + 30 * ms;
    return service.trace();
}

/// Ten requests await three children together, which run for these times.
analysis::trace with_children(std::int64_t others_ns, std::int64_t slowest_ns) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto all = service.await_named("all");
    const std::uint32_t sites[] = {
        built.site("load user", "shop.cpp", 4, trace::site_kind::coroutine),
        built.site("load stock", "shop.cpp", 5, trace::site_kind::coroutine),
        built.site("load reviews", "shop.cpp", 6, trace::site_kind::coroutine)};
    std::uint64_t child = first_helper;
    for (int request = 0; request < 10; ++request) {
        const std::uint64_t task = service.begin();
        const std::int64_t from = service.now + 10 * us;
        for (std::uint32_t at = 0; at < 3; ++at) {
            const std::int64_t end = from + (at == 2 ? slowest_ns : others_ns);
            built.on(1).spawn(from - us, ++child, sites[at], trace::spawn_ready, task);
            auto thread = built.on(2 + at);
            thread.resume(from, child);
            if (at == 2) thread.wake(end - us, task, child, 2 + at);
            thread.finish(end, child);
        }
        built.on(1).suspend(from, task, all);
        service.now = from + slowest_ns;
        built.on(1).resume(service.now, task);
        service.now += 10 * us;
        service.end();
    }
    return service.trace();
}

/// Each of ten requests waits eight times, and is queued for 0.2 ms after each wait, on two
/// executors in turn or on one.
analysis::findings on_executors(bool in_turn) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto check_word = service.await_named("check word");
    built.executor(1, trace::executor_kind::io_context, "front");
    built.executor(2, trace::executor_kind::thread_pool, "back");
    for (int request = 0; request < 10; ++request) {
        const std::uint64_t task = service.begin();
        std::uint32_t thread = 1;
        for (std::uint32_t step = 0; step < 8; ++step) {
            const std::uint32_t executor = in_turn ? 1 + step % 2 : 1;
            built.on(thread).suspend(service.now, task, check_word);
            built.on(3).wake(service.now + 100 * us, task, 0, 3, executor);
            service.now += 300 * us;
            thread = executor == 1 ? 1 : 4;
            built.on(thread).resume(service.now, task, 0, 0, executor);
            service.now += us;
        }
        built.on(thread).suspend(service.now, task);
        built.on(1).wake(service.now + us, task, 0, 1);
        built.on(1).resume(service.now + us, task);
        service.now += 2 * us;
        service.end();
    }
    return analysis::check(service.trace());
}

/// A task on thread 2 serves batches of requests one after the other, 3 ms for each, in so many
/// scopes.
analysis::trace with_worker(int batch, int scopes = 1, bool awaits_send = false) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto send = built.site("send reply", "connection.cpp", 5);
    const auto reply = service.await_named("reply");
    const auto next = service.await_named("next");
    const auto site = built.site("connection", "connection.cpp", 4, trace::site_kind::coroutine);
    built.on(2).spawn(service.now - us, first_helper, site, trace::spawn_started);
    built.on(2).suspend(service.now, first_helper, next);
    for (int first = 0; first < 20; first += batch) {
        const std::int64_t from = service.now;
        std::uint64_t tasks[5];
        for (int at = 0; at < batch; ++at) {
            tasks[at] = service.begin_at(from + at * us);
            built.on(1).suspend(from + at * us + 500, tasks[at], reply);
        }
        std::int64_t item = from + 10 * us;
        built.on(3).wake(item, first_helper, 0, 3);
        built.on(2).resume(item, first_helper);
        for (int at = 0; at < batch; ++at, item += 3 * ms) {
            const std::int64_t end = item + 3 * ms;
            const std::int64_t each = (end - us - item) / scopes;
            for (int scope = 0; scope + 1 < scopes; ++scope)
                built.on(2).scope(send, item + us + scope * each, item + (scope + 1) * each);
            if (awaits_send) {
                built.on(2)
                    .scope(send, item + us, end - 10 * us)
                    .suspend(end - 9 * us, first_helper, next)
                    .wake(end - 2 * us, tasks[at], first_helper, 2)
                    .resume(end - us, first_helper);
            } else {
                built.on(2)
                    .wake(end - 2 * us, tasks[at], first_helper, 2)
                    .scope(send, item + us + (scopes - 1) * each, end - us);
            }
            built.on(1).resume(end - 2 * us, tasks[at]);
            service.end_at(tasks[at], from + at * us, end);
        }
        built.on(2).suspend(item, first_helper, next);
        service.now = item + 2 * ms;
    }
    return service.trace();
}

}  // namespace

TEST_SUITE("findings about crowds") {
    TEST_CASE("requests that make the same value at once are a stampede") {
        const analysis::findings found = analysis::check(with_misses(true));
        const analysis::finding* const stampede = finding_of(found, "cache-stampede");
        REQUIRE(stampede != nullptr);
        CHECK(stampede->cause.label == "cache.fill");
        CHECK(stampede->count == 7);
        CHECK(stampede->cost_ns == 7 * (5 * ms - us));
    }

    TEST_CASE("requests that await the value of the first one are no stampede") {
        const analysis::findings found = analysis::check(with_misses(false));
        CHECK(finding_of(found, "cache-stampede") == nullptr);
    }

    TEST_CASE("without all records no stampede is looked for") {
        analysis::trace from = with_misses(true);
        from.all_threads = false;
        const analysis::findings found = analysis::check(from);
        CHECK(finding_of(found, "cache-stampede") == nullptr);
        CHECK(test::could_not_run(found, "cache-stampede"));
    }

    TEST_CASE("an event that wakes many tasks in vain is a thundering herd") {
        const analysis::findings found = analysis::check(with_licences(true));
        const analysis::finding* const herd = finding_of(found, "thundering-herd");
        REQUIRE(herd != nullptr);
        CHECK(herd->cause.label == "licence.take");
        CHECK(herd->count == 5 + 4 + 3);  // herds of four tasks or more
        CHECK(herd->cost_ns == (20 + 14 + 9) * 101 * us - 12 * us);
    }

    TEST_CASE("an event that wakes one task for one place is no herd") {
        CHECK(finding_of(analysis::check(with_licences(false)), "thundering-herd") == nullptr);
    }

    TEST_CASE("a child that takes much longer than the others decides the fan-out") {
        const analysis::findings found = analysis::check(with_children(ms, 8 * ms));
        const analysis::finding* const slowest = finding_of(found, "slowest-child");
        REQUIRE(slowest != nullptr);
        CHECK(slowest->cause.label == "load reviews");
        CHECK(slowest->count == 10);
        CHECK(slowest->cost_ns == 10 * 7 * ms);
    }

    TEST_CASE("children of nearly the same length are no fault") {
        CHECK(finding_of(analysis::check(with_children(7 * ms, 8 * ms)), "slowest-child") ==
              nullptr);
    }

    TEST_CASE("in a trace that lost records the slowest child may be another one") {
        analysis::trace from = with_children(ms, 8 * ms);
        from.health.dropped_newest = 1;
        const analysis::findings found = analysis::check(from);
        CHECK(finding_of(found, "slowest-child") == nullptr);
        CHECK(test::could_not_run(found, "slowest-child"));
    }

    TEST_CASE("requests that go back and forth between executors wait after each change") {
        const analysis::findings found = on_executors(true);
        const analysis::finding* const hops = finding_of(found, "ping-pong");
        REQUIRE(hops != nullptr);
        CHECK(hops->cause.label == "check word");
        CHECK(hops->count == 10 * 7);
        CHECK(hops->cost_ns == 10 * 7 * 200 * us);
    }

    TEST_CASE("requests that stay on one executor do not hop") {
        const analysis::findings found = on_executors(false);
        CHECK(finding_of(found, "ping-pong") == nullptr);
        CHECK_FALSE(test::could_not_run(found, "ping-pong"));
    }

    TEST_CASE("requests that one task serves wait for the items of the others") {
        const analysis::findings found = analysis::check(with_worker(5));
        const analysis::finding* const worker = finding_of(found, "serial-worker");
        REQUIRE(worker != nullptr);
        CHECK(worker->cause.label == "send reply");
        CHECK(worker->count == 4 * 4);
        CHECK(worker->cost_ns > 4 * 10 * 2 * ms);
        CHECK(worker->cost_ns <= 4 * 10 * 3 * ms);
    }

    TEST_CASE("a task that serves one request at a time delays none") {
        for (const int scopes : {1, 3})
            CHECK(finding_of(analysis::check(with_worker(1, scopes)), "serial-worker") == nullptr);
    }

    TEST_CASE("a task that wakes a request by the operation that it awaits delays none") {
        CHECK(finding_of(analysis::check(with_worker(1, 1, true)), "serial-worker") == nullptr);
    }
}
