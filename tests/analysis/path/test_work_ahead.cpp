// SPDX-License-Identifier: Apache-2.0

// The work on the threads of an executor, to which a queued segment is charged.

#include <coroscope/analysis/critical_path.hpp>

#include <algorithm>
#include <cstdint>
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

namespace {

constexpr std::uint32_t ready_on(std::uint32_t executor) {
    return trace::spawn_ready | trace::spawn_on(executor);
}

// A pool of two threads. Task 5 is queued from 100 to 400. Meanwhile thread 1 runs task 2 of the
// pool, and thread 2 runs task 3 of another executor from `other_ns` on.
test::trace_builder busy_pool(std::int64_t other_ns) {
    test::trace_builder built;
    built.lasts(10'000)
        .executor(1, trace::executor_kind::thread_pool, "pool")
        .executor(2, trace::executor_kind::io_context, "other");
    const auto job = built.site("job", "jobs.cpp", 3, trace::site_kind::job);
    const auto poll = built.site("poll", "other.cpp", 4, trace::site_kind::job);
    built.on(9)
        .spawn(10, 1, job, ready_on(1))
        .spawn(10, 2, job, ready_on(1))
        .spawn(10, 3, poll, ready_on(2))
        .spawn(100, 5, job, ready_on(1))
        .spawn(500, 6, job, ready_on(1));
    built.on(1).resume(50, 2).finish(400, 2).resume(400, 5).finish(450, 5);
    built.on(2).resume(20, 1).finish(30, 1).resume(other_ns, 3).finish(480, 3);
    built.on(2).resume(510, 6).finish(520, 6);
    return built;
}

const analysis::path_segment& queued_of(const critical_path& path) {
    REQUIRE(path.segments.size() == 2);
    REQUIRE(path.segments[0].kind == analysis::path_kind::queued);
    return path.segments[0];
}

std::int64_t charges_of(const critical_path& path, const analysis::path_segment& segment) {
    std::int64_t sum_ns = 0;
    for (const std::uint32_t at : segment.blame) sum_ns += path.blame[at].charged_ns;
    return sum_ns;
}

}  // namespace

TEST_SUITE("work ahead of a queued task") {
    TEST_CASE("the work on each thread of the executor shares the time while all are busy") {
        const analysis::trace from = loaded(busy_pool(40));
        const critical_path path = path_of(from, 5);
        const analysis::path_segment& queued = queued_of(path);
        REQUIRE(queued.blame.size() == 2);
        for (const std::uint32_t at : queued.blame) {
            CHECK(path.blame[at].time_ns == 300);
            CHECK(path.blame[at].charged_ns == 150);
        }
        const std::string cause = std::get<std::string>(analysis::list_path(from, path).rows[0][8]);
        CHECK(cause.find("task 2 (job) for 150 ns on thread ") != std::string::npos);
        CHECK(cause.find("task 3 (poll) for 150 ns on thread ") != std::string::npos);
    }

    TEST_CASE("while a thread of the executor ran nothing, the time is charged to that thread") {
        const analysis::trace from = loaded(busy_pool(200));
        const critical_path path = path_of(from, 5);
        const analysis::path_segment& queued = queued_of(path);
        CHECK(charges_of(path, queued) == 300);
        REQUIRE(queued.blame.size() == 3);
        for (const std::uint32_t at : queued.blame) {
            const analysis::path_blame& each = path.blame[at];
            CHECK(each.charged_ns == 100);
            if (each.task == analysis::none) {
                CHECK(from.threads[each.thread].id == 2);
                CHECK(each.time_ns == 100);
            }
        }
    }

    TEST_CASE("the charges to tasks of one name are one, with the number of tasks and threads") {
        test::trace_builder built;
        built.lasts(10'000).executor(1, trace::executor_kind::thread_pool, "pool");
        const auto job = built.site("job", "jobs.cpp", 3, trace::site_kind::job);
        const auto late = built.site("late", "jobs.cpp", 9, trace::site_kind::job);
        for (const std::uint64_t task : {1U, 2U, 3U, 4U})
            built.on(9).spawn(10, task, job, ready_on(1));
        built.on(9).spawn(100, 5, late, ready_on(1));
        built.on(1).resume(20, 1).finish(200, 1).resume(200, 2).finish(300, 2);
        built.on(2).resume(20, 3).finish(150, 3).resume(150, 4).finish(310, 4);
        built.on(1).resume(300, 5).finish(350, 5);
        const analysis::trace from = loaded(built);
        const std::string cause =
            std::get<std::string>(analysis::list_path(from, path_of(from, 5)).rows[0][8]);
        CHECK(cause == "4 tasks (job) for 200 ns on 2 threads");
    }

    TEST_CASE("if requests were left out, no thread is said to have run no task") {
        analysis::trace from = loaded(busy_pool(200));
        from.health.left_out_requests = 1;
        const critical_path path = path_of(from, 5);
        const std::string cause = std::get<std::string>(analysis::list_path(from, path).rows[0][8]);
        CHECK(cause.find("no recorded task ran for 100 ns") != std::string::npos);
    }

    TEST_CASE("the work on the waker's executor is in the way of the waker's result") {
        test::trace_builder built;
        built.lasts(10'000).executor(1, trace::executor_kind::thread_pool, "pool");
        const auto job = built.site("job", "jobs.cpp", 3, trace::site_kind::job);
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(10, 1);
        built.on(1).spawn(20, 2, job, ready_on(1)).spawn(30, 3, job, ready_on(1));
        built.on(2).resume(40, 2).finish(60, 2).resume(60, 3).finish(260, 3);
        built.on(2).wake(270, 1, 2, 2 | trace::wake_returned);
        built.on(1).resume(280, 1).finish(300, 1);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 1);
        const auto returned =
            std::ranges::find(path.segments, std::int64_t{60}, &analysis::path_segment::start_ns);
        REQUIRE(returned != path.segments.end());
        CHECK(returned->kind == analysis::path_kind::queued);
        CHECK(returned->length_ns() == 210);
        REQUIRE(!returned->blame.empty());
        const analysis::path_blame& first = path.blame[returned->blame.front()];
        CHECK(from.tasks[first.task].id == 3);
        CHECK(first.time_ns == 200);
    }

    TEST_CASE("the job of a strand has all the time of the jobs behind it") {
        test::trace_builder built;
        built.lasts(10'000)
            .executor(1, trace::executor_kind::thread_pool)
            .executor(2, trace::executor_kind::strand, "", 1);
        const auto work = built.site("work", "", 0, trace::site_kind::operation);
        built.on(9)
            .spawn(40, 30, work, ready_on(1))
            .spawn(100, 21, work, ready_on(2))
            .spawn(130, 22, work, ready_on(2))
            .spawn(500, 31, work, ready_on(1));
        built.on(2).resume(50, 30).finish(60, 30).resume(510, 31).finish(520, 31);
        built.on(1)
            .resume(120, 21, 0, 0, 2)
            .finish(220, 21)
            .resume(220, 22, 0, 0, 2)
            .finish(320, 22);
        const analysis::trace from = loaded(built);
        const critical_path path = path_of(from, 22);
        const analysis::path_segment& queued = queued_of(path);
        const analysis::path_blame& first = path.blame[queued.blame.front()];
        CHECK(from.tasks[first.task].id == 21);
        CHECK(first.charged_ns == 90);
        CHECK(charges_of(path, queued) == 90);
    }
}
