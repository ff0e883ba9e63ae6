// SPDX-License-Identifier: Apache-2.0

// The matrix of waiting places and the places that made them wait.

#include <coroscope/analysis/await_blame.hpp>

#include <cstdint>
#include <string>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "loaded_trace.hpp"
#include "simulated_tasks.hpp"

using namespace coroscope;
using test::loaded;

namespace {

std::string text_of(const std::vector<analysis::await_blame>& blame) {
    std::string text;
    for (const analysis::await_blame& each : blame)
        text += each.waiting + " | " + std::string(analysis::name_of(each.kind)) + " | " +
                each.label + " | " + std::to_string(each.count) + " | " +
                std::to_string(each.time_ns) + "\n";
    return text;
}

std::int64_t total_of(const std::vector<analysis::await_blame>& blame) {
    std::int64_t sum_ns = 0;
    for (const analysis::await_blame& each : blame) sum_ns += each.time_ns;
    return sum_ns;
}

// Two tasks wait for a pool of two threads, each for 300 ns, behind the scopes of two others.
test::trace_builder busy_pool() {
    test::trace_builder built;
    built.lasts(10'000).executor(1, trace::executor_kind::thread_pool, "pool");
    const auto query = built.site("query", "store.cpp", 3, trace::site_kind::await);
    const auto search = built.site("search");
    const auto audit = built.site("audit");
    for (const std::uint64_t task : {1, 2})
        built.on(static_cast<std::uint32_t>(task))
            .spawn(0, task, 0, trace::spawn_started | trace::spawn_on(1))
            .suspend(50, task, query);
    built.on(9).wake(100, 1, 0, 9, 1).wake(100, 2, 0, 9, 1);
    built.on(1)
        .spawn(60, 11, 0, trace::spawn_started | trace::spawn_on(1))
        .scope(search, 70, 390)
        .finish(400, 11)
        .resume(400, 1, 0, 0, 1)
        .finish(500, 1);
    built.on(2)
        .spawn(60, 12, 0, trace::spawn_started | trace::spawn_on(1))
        .scope(audit, 60, 400)
        .finish(400, 12)
        .resume(400, 2, 0, 0, 1)
        .finish(500, 2);
    return built;
}

}  // namespace

TEST_SUITE("blame of awaits") {
    TEST_CASE("queued time is shared by the work on the threads of the executor") {
        const std::string text = text_of(analysis::blame_of_awaits(loaded(busy_pool())));
        CHECK(text.find("query | ran on the executor | audit | 2 | 300\n") != std::string::npos);
        CHECK(text.find("query | ran on the executor | search | 2 | 290\n") != std::string::npos);
        CHECK(text.find("query | ran on the executor | unknown | 2 | 10\n") != std::string::npos);
        CHECK(text.find("query | outside tasks |  | 2 | 100\n") != std::string::npos);
    }

    TEST_CASE("the charges of awaits add up to their waits") {
        const analysis::trace from = loaded(busy_pool());
        CHECK(total_of(analysis::blame_of_awaits(from)) == 2 * 350);
    }

    TEST_CASE("suspended time is charged to the scope that woke the task") {
        test::trace_builder built;
        const auto pop = built.site("pop", "queue.cpp", 3, trace::site_kind::await);
        const auto produce = built.site("produce");
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1, pop);
        built.on(2)
            .spawn(0, 2, 0, trace::spawn_started)
            .scope(produce, 150, 320)
            .wake(300, 1, 2, 2)
            .finish(350, 2);
        built.on(1).resume(300, 1).finish(400, 1);
        CHECK(text_of(analysis::blame_of_awaits(loaded(built))) ==
              "pop | woke it | produce | 1 | 200\n");
    }

    TEST_CASE("an await whose wake is unknown is unknown") {
        test::trace_builder built;
        const auto pop = built.site("pop", "queue.cpp", 3, trace::site_kind::await);
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started)
            .suspend(100, 1, pop)
            .resume(300, 1)
            .finish(400, 1);
        CHECK(text_of(analysis::blame_of_awaits(loaded(built))) == "pop | unknown |  | 1 | 200\n");
    }

    TEST_CASE("waits for resources are charged to the holder, and for locks, too") {
        test::trace_builder built;
        const auto mutex = built.site("cache", "", 0, trace::site_kind::resource, "", "mutex");
        const auto lock = built.site("lock", "cache.cpp", 3, trace::site_kind::await);
        const auto fill = built.site("fill");
        built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1, lock);
        built.on(2).spawn(0, 2, 0, trace::spawn_started).scope(fill, 10, 340).finish(350, 2);
        built.on(1).resume(320, 1).resource_wait(100, 325,
                                                 {.site = mutex,
                                                  .waiter = trace::make_mark(1, 1),
                                                  .holder = trace::make_mark(2, 2),
                                                  .releaser = trace::make_mark(2, 2),
                                                  .released = 300});
        built.on(1).finish(400, 1);
        analysis::trace from = loaded(built);
        analysis::lock_wait wait;
        wait.start_ns = 330;
        wait.end_ns = 335;
        wait.waiter = {0, *analysis::find_task(from, 1), analysis::none};
        wait.holder_os_id = 1;
        wait.holder = {1, *analysis::find_task(from, 2), 0};
        from.lock_waits.push_back(wait);
        CHECK(text_of(analysis::blame_of_awaits(from)) == "lock | held it | fill | 1 | 200\n"
                                                          "lock | unknown |  | 1 | 20\n"
                                                          "unknown | held it | fill | 1 | 5\n");
    }

    TEST_CASE("a thread's wait for the result of a future is charged to its producer") {
        test::trace_builder built;
        const auto result = built.site("future", "", 0, trace::site_kind::resource, "", "future");
        const auto price = built.site("price"), estimate = built.site("estimate");
        built.on(1).resource_wait(100, 310,
                                  {.site = result,
                                   .waiter = trace::make_mark(0, 1),
                                   .releaser = trace::make_mark(0, 2),
                                   .released = 300});
        built.on(1).resource_wait(320, 330, {.site = result, .waiter = trace::make_mark(0, 1)});
        built.on(1).scope(price, 90, 340);
        built.on(2).scope(estimate, 50, 305);
        CHECK(text_of(analysis::blame_of_awaits(loaded(built))) ==
              "price | woke it | estimate | 1 | 210\nprice | unknown |  | 1 | 10\n");
    }

    TEST_CASE("the charges of a thousand random task graphs add up to the waits") {
        for (std::uint32_t seed = 1; seed <= 1'000; ++seed) {
            analysis::trace graph = test::simulated_tasks(seed).graph();
            graph.lock_waits.clear();
            std::int64_t waits_ns = 0;
            for (const auto& await : graph.awaits)
                waits_ns += analysis::split_of(graph, await).wall_ns();
            for (const auto& task : graph.tasks)
                if (task.first_wake_ns && !task.slices.empty())
                    waits_ns += graph.slices[task.slices.front()].start_ns - *task.first_wake_ns;
            CAPTURE(seed);
            REQUIRE(total_of(analysis::blame_of_awaits(graph)) == waits_ns);
        }
    }

    TEST_CASE("the listing has the two places of each row") {
        const analysis::trace from = loaded(busy_pool());
        const std::string csv =
            analysis::to_csv(analysis::list_await_blame(from, analysis::blame_of_awaits(from)));
        CHECK(csv.find("total_ns,count,waiting,waiting_place,because,label,place\n"
                       "300,2,query,store.cpp:3,ran on the executor,audit,test.cpp:1\n") == 0);
    }
}
