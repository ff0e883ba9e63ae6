// SPDX-License-Identifier: Apache-2.0
// Expectations, on traces that are built tick by tick.

#include <chrono>
#include <sstream>
#include <string>

#include <coroscope/analysis/expect.hpp>
#include <coroscope/trace/executor_format.hpp>
#include <doctest/doctest.h>

#include "trace_builder.hpp"

using namespace std::chrono_literals;
using namespace coroscope::analysis;
using namespace coroscope::test;
using coroscope::trace::executor_kind;
using coroscope::trace::site_kind;

namespace {

constexpr std::int64_t ms = 1'000'000;

/// The job of each task holds the only thread of the pool "resizing" for 4 ms, of the last task for
/// 12 ms. All tasks are queued at the start. Each is a request.
trace_builder four_jobs(std::string_view pool = "resizing") {
    trace_builder built;
    built.lasts(100 * ms).executor(1, executor_kind::thread_pool, pool);
    const auto job = built.site("resize", "jobs.cpp", 3, site_kind::job);
    const auto scope = built.site("thumbnail", "src/image.cpp", 40);
    const auto request = built.site("GET /image", "src/image.cpp", 30, site_kind::request);
    std::int64_t now = 2 * ms;
    for (std::uint64_t task = 11; task <= 14; ++task)
        built.on(9).spawn(ms, task, job,
                          coroscope::trace::spawn_ready | coroscope::trace::spawn_on(1));
    for (std::uint64_t task = 11; task <= 14; ++task) {
        const std::int64_t end = now + (task == 14 ? 12 : 4) * ms;
        built.on(1)
            .resume(now, task)
            .long_scope(scope, now + 1'000, end - 1'000, 0, task)
            .long_scope(request, now + 500, end - 500, 0, task)
            .finish(end, task);
        now = end;
    }
    return built;
}

recorded_block recorded(const trace_builder& built) { return recorded_block(built.finish()); }

/// A task that is queued for 7 ms in its request, after an await.
trace_builder queued_request(bool with_wake) {
    trace_builder built;
    built.lasts(100 * ms);
    const auto request = built.site("GET /", "a.cpp", 1, site_kind::request);
    built.on(1).spawn(0, 1).wake(10, 1).resume(20, 1).suspend(1 * ms, 1);
    if (with_wake) built.on(2).wake(3 * ms, 1);
    built.on(1)
        .resume(10 * ms, 1)
        .long_scope(request, 100, 11 * ms,
                    coroscope::trace::scope_in_frame | coroscope::trace::scope_exact, 1)
        .finish(12 * ms, 1);
    return built;
}

/// Nine requests become ready while a job sleeps for 40 ms on the only thread of their pool.
trace_builder blocked_requests() {
    trace_builder built;
    built.lasts(100 * ms).executor(1, executor_kind::thread_pool, "resizing");
    const auto job = built.site("flush", "jobs.cpp", 3, site_kind::job);
    const auto write = built.site("log.write", "src/log.cpp", 7);
    const auto request = built.site("GET /image", "src/image.cpp", 30, site_kind::request);
    const std::int64_t step = ms / 10;
    const auto ready = coroscope::trace::spawn_ready | coroscope::trace::spawn_on(1);
    for (std::uint64_t task = 12; task <= 20; ++task) built.on(9).spawn(step, task, job, ready);
    built.on(9).spawn(2 * ms, 11, job, ready);
    auto pool = built.on(1);
    for (std::int64_t task = 12; task <= 20; ++task) {
        const std::int64_t at = ms + (task - 12) * step;
        pool.resume(at, static_cast<std::uint64_t>(task));
        pool.suspend(at + step / 2, static_cast<std::uint64_t>(task));
    }
    pool.resume(3 * ms, 11).long_scope(write, 3 * ms + 1'000, 43 * ms - 1'000, 0, 11);
    pool.finish(43 * ms, 11);
    for (std::uint64_t task = 12; task <= 20; ++task) built.on(9).wake(4 * ms, task, 0, 9, 1);
    for (std::int64_t task = 12; task <= 20; ++task) {
        const std::int64_t from = ms + (task - 12) * step + 1'000;
        const std::int64_t at = 43 * ms + (task - 12) * step;
        const auto id = static_cast<std::uint64_t>(task);
        pool.resume(at, id, 0, 0, 1)
            .long_scope(request, from, at + step / 2,
                        coroscope::trace::scope_in_frame | coroscope::trace::scope_exact, id);
        pool.finish(at + step - 1'000, id);
    }
    built.kernel().enters(1, 0).leaves(1, 3 * ms + 10'000).enters(1, 43 * ms - 10'000);
    built.kernel().leaves(1, 90 * ms);
    return built;
}

bool says(const expectation& of, std::string_view part) {
    return of.message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("no job of an executor may hold its thread for longer than the limit") {
    const recorded_block block = recorded(four_jobs());
    CHECK(expect_no_blocking(block, "resizing", 12ms));
    const expectation found = expect_no_blocking(block, "resizing", 11ms);
    CHECK_FALSE(found);
    CHECK(found.message ==
          "a job held a thread of resizing for 12.0 ms (limit 11.0 ms; time without a processor "
          "may be included) in thumbnail at src/image.cpp:40, 14.0 ms after the start; "
          "move this work to another pool, or divide it");
    CHECK(says(expect_no_blocking(block, "resizing", 3ms), "(3 more such jobs)"));
}

TEST_CASE("the time without a processor is no blocking") {
    auto built = four_jobs();
    built.kernel().enters(1, 0).preempted(1, 16 * ms).enters(1, 24 * ms).leaves(1, 90 * ms);
    CHECK(expect_no_blocking(recorded(built), "resizing", 5ms));
}

TEST_CASE("an executor without a name is known by its kind") {
    const recorded_block block = recorded(four_jobs(""));
    CHECK(expect_no_blocking(block, "thread_pool", 20ms));
    CHECK(expect_no_blocking(block, "thread_pool 1", 20ms));
    CHECK_FALSE(expect_no_blocking(block, "thread_pool", 1ms));
}

TEST_CASE("an executor or a request that was not recorded meets no expectation") {
    const recorded_block block = recorded(four_jobs());
    const expectation executor = expect_no_blocking(block, "sending", 1h);
    CHECK_FALSE(executor);
    CHECK(executor.message ==
          "no job of an executor sending was recorded; the recorded executors: resizing");
    const expectation request = expect_wall_p99(block, "PUT /image", 1h);
    CHECK_FALSE(request);
    CHECK(
        says(request, "no whole request PUT /image was recorded; the recorded types: GET /image"));
}

TEST_CASE("the 99th percentile of a request's queued time has the limit") {
    const recorded_block block = recorded(queued_request(true));
    CHECK(expect_queued_p99(block, "GET /", 7ms));
    const expectation found = expect_queued_p99(block, "GET /", 6ms);
    CHECK_FALSE(found);
    CHECK(says(found, "p99 of 1 requests GET / (request 1, "));
    CHECK(says(found, "was queued for 7.0 ms (limit 6.0 ms)"));
}

TEST_CASE("a queued time that is not known is not within the limit") {
    const recorded_block block = recorded(queued_request(false));
    CHECK(expect_queued_p99(block, "GET /", 10ms));  // all of the waiting time is less
    const expectation found = expect_queued_p99(block, "GET /", 6ms);
    CHECK_FALSE(found);
    CHECK(says(found, "it is not known for how long they were queued"));
}

TEST_CASE("the 99th percentile of a request's wall time has the limit") {
    const recorded_block block = recorded(four_jobs());
    CHECK(expect_wall_p99(block, "GET /image", 12ms));
    CHECK(says(expect_wall_p99(block, "GET /image", 10ms), "took 12.0 ms (limit 10.0 ms)"));
}

TEST_CASE("no finding may be as severe as the limit") {
    CHECK(expect_no_finding(recorded(queued_request(true)), finding_severity::error));
    const expectation found =
        expect_no_finding(recorded(blocked_requests()), finding_severity::error);
    CHECK_FALSE(found);
    CHECK_MESSAGE(says(found, "error blocking-call: "), found);
    CHECK_MESSAGE(says(found, " at src/log.cpp:7"), found);
    CHECK_MESSAGE(says(found, ". Move the call to a pool of its own"), found);
    CHECK(found.message.find('\n') == std::string::npos);
}

TEST_CASE("a recording that lost records meets no expectation") {
    auto built = four_jobs();
    built.thread(1).dropped_newest = 5;
    const expectation found = expect_no_blocking(recorded(built), "resizing", 1h);
    CHECK_FALSE(found);
    CHECK(says(found, "the recording lost 5 records"));
}

TEST_CASE("an expectation is printed as its message") {
    std::ostringstream out;
    out << expectation{false, "too slow"} << ", " << expectation{true, {}};
    CHECK(out.str() == "too slow, met");
}
