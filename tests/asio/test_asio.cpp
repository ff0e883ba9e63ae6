// SPDX-License-Identifier: Apache-2.0

// Asio's tracking, as the analysis shows it.

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "asio_library.hpp"
#include "napping.hpp"
#include "recording.hpp"

namespace {

net::awaitable<int> query(int key) {
    COROSCOPE_FUNCTION();
    busy(5ms);
    co_return key * 2;
}

net::awaitable<void> sleeper(net::steady_timer& timer) {
    COROSCOPE_FUNCTION();
    co_await COROSCOPE_AWAIT("nap", timer.async_wait(net::use_awaitable));
}

net::awaitable<void> left_sleeping() {
    COROSCOPE_FUNCTION();
    co_await nap(30ms);
}

net::awaitable<void> asker(net::thread_pool& pool, int rounds, int& sum) {
    COROSCOPE_FUNCTION();
    for (int round = 0; round < rounds; ++round)
        sum +=
            co_await COROSCOPE_AWAIT("ask", net::co_spawn(pool, query(round), net::use_awaitable));
}

}  // namespace

TEST_CASE(
    "an Asio timer's wait is suspended time, under its await's label, and no task runs meanwhile") {
    std::int64_t left_ns = 0;
    const auto loaded = record([&left_ns] {
        net::io_context io;
        net::steady_timer timer(io, 30ms);
        net::co_spawn(io, sleeper(timer), net::detached);
        io.poll();  // the coroutine waits after this call
        left_ns = ns_until(timer);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "sleeper");
    CHECK(task.state == analysis::task_state::finished);
    CHECK(task.asio);
    CHECK(task.time.suspended_ns >= nearly(left_ns));
    CHECK(task.time.waiting_ns == 0);
    REQUIRE(task.awaits.size() == 1);
    const analysis::await_info& nap = loaded.awaits[*task.awaits.begin()];
    CHECK(loaded.sites[nap.site].label == "nap");
    CHECK(nap.reason == analysis::wake_reason::timer);
    CHECK(task.time.running_ns <= task.time.wall_ns() - nearly(left_ns));
    check_all_add_up(loaded);
}

TEST_CASE("work posted behind busy work is queued until that ends") {
    const auto loaded = record([] {
        net::io_context io;
        net::post(io, [] {
            COROSCOPE("first");
            busy(20ms);
        });
        net::post(io, [] { COROSCOPE("second"); });
        io.run();
    });
    const auto second =
        std::find_if(loaded.events.begin(), loaded.events.end(), [&](const analysis::event& scope) {
            return loaded.strings[scope.name] == "second";
        });
    REQUIRE(second != loaded.events.end());
    REQUIRE(second->task != analysis::none);
    CHECK(loaded.tasks[second->task].time.queued_ns >= nearly(20 * ms));
    CHECK(loaded.tasks[second->task].time.waiting_ns == 0);
    check_all_add_up(loaded);
}

TEST_CASE("work for a pool whose thread is busy is queued until the thread is free") {
    const auto loaded = record([] {
        net::thread_pool pool(1);
        std::atomic<bool> all_given = false;
        net::post(pool, [&all_given] {
            all_given.wait(false);
            busy(10ms);
        });
        net::post(pool, [] { COROSCOPE("posted"); });
        net::dispatch(pool, [] { COROSCOPE("dispatched"); });
        net::defer(pool, [] { COROSCOPE("deferred"); });
        net::co_spawn(pool, query(1), net::detached);
        all_given = true;
        all_given.notify_one();
        pool.join();
    });
    for (const char* name : {"posted", "dispatched", "deferred", "query"}) {
        CAPTURE(name);
        const analysis::task_info& task = owner_of(loaded, name);
        CHECK(task.time.queued_ns >= nearly(10 * ms));
        CHECK(task.time.waiting_ns == 0);
    }
    check_all_add_up(loaded);
}

TEST_CASE("a coroutine that awaits another one on a pool is suspended meanwhile, and the other one "
          "wakes it") {
    int sum = 0;
    const auto loaded = record([&sum] {
        net::io_context io;
        net::thread_pool pool(1);
        net::co_spawn(net::make_strand(io), asker(pool, 1, sum), net::detached);
        io.run();
        pool.join();
    });
    const analysis::task_info& child = task_named(loaded, "query");
    const analysis::task_info& task = task_named(loaded, "asker");
    CHECK(sum == 0);
    CHECK(loaded.tasks[child.awaiter].id == task.id);
    CHECK(loaded.tasks[child.parent].id == task.id);
    CHECK(child.time.running_ns >= nearly(5 * ms));
    CHECK(task.time.suspended_ns > 0);
    REQUIRE(task.awaits.size() != 0);
    const analysis::await_info& ask = loaded.awaits[*task.awaits.begin()];
    CHECK(loaded.sites[ask.site].label == "ask");
    CHECK(loaded.tasks[ask.awaited].id == child.id);
    REQUIRE(ask.waker != analysis::none);
    CHECK(loaded.tasks[ask.waker].id == child.id);
    check_all_add_up(loaded);
}

TEST_CASE("a hundred coroutines on four threads keep their scopes and their children apart") {
    constexpr int coroutines = 100;
    constexpr int rounds = 3;
    std::vector<int> sums(coroutines);
    const auto loaded = record([&sums] {
        net::io_context io;
        net::thread_pool pool(2);
        for (int& sum : sums)
            net::co_spawn(net::make_strand(io), asker(pool, rounds, sum), net::detached);
        std::thread other([&io] { io.run(); });
        io.run();
        other.join();
        pool.join();
    });
    CHECK(std::all_of(sums.begin(), sums.end(), [](int sum) { return sum == 6; }));
    CHECK_FALSE(loaded.health.lost_records());
    int askers = 0;
    int queries = 0;
    for (const analysis::event& scope : loaded.events) {
        const std::string& name = loaded.strings[scope.name];
        if (name != "asker" && name != "query") continue;
        REQUIRE(scope.task != analysis::none);
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        ++(name == "asker" ? askers : queries);
        if (name == "query") CHECK(loaded.tasks[scope.task].awaiter != analysis::none);
    }
    CHECK(askers == coroutines);
    CHECK(queries == coroutines * rounds);
    check_all_add_up(loaded);
}

TEST_CASE(
    "an operation that its context destroys shows as cancelled, a coroutine as ended with the "
    "service") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, left_sleeping(), net::detached);
        net::post(io, [] { COROSCOPE("never"); });
        io.poll_one();
    });
    const analysis::task_info& task = task_named(loaded, "left_sleeping");
    CHECK(task.state == analysis::task_state::ended_with_service);
    CHECK(
        std::any_of(loaded.tasks.begin(), loaded.tasks.end(), [](const analysis::task_info& each) {
            return each.state == analysis::task_state::cancelled;
        }));
}
