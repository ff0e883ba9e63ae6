// SPDX-License-Identifier: Apache-2.0

// Asio's tracking, by what the analysis makes of it.

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

net::awaitable<int> query(int key) {
    COROSCOPE_FUNCTION();
    busy(5ms);
    co_return key * 2;
}

net::awaitable<void> sleeper() {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor, 30ms);
    co_await COROSCOPE_AWAIT("nap", timer.async_wait(net::use_awaitable));
}

net::awaitable<void> asker(net::thread_pool& pool, int rounds, int& sum) {
    COROSCOPE_FUNCTION();
    for (int round = 0; round < rounds; ++round)
        sum +=
            co_await COROSCOPE_AWAIT("ask", net::co_spawn(pool, query(round), net::use_awaitable));
}

}  // namespace

TEST_CASE("an Asio timer's wait is waiting, under its await's label, and nobody runs meanwhile") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, sleeper(), net::detached);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "sleeper");
    CHECK(task.state == analysis::task_state::finished);
    CHECK(task.asio);
    CHECK(task.time.waiting_ns >= 29 * ms);
    CHECK(task.time.suspended_ns == 0);
    REQUIRE(task.awaits.size() == 1);
    const analysis::await_info& nap = loaded.awaits[*task.awaits.begin()];
    CHECK(loaded.sites[nap.site].label == "nap");
    CHECK_FALSE(nap.wake_ns);
    CHECK(task.time.running_ns <= task.time.wall_ns() - 29 * ms);
    check_all_add_up(loaded);
}

TEST_CASE("work posted behind busy work is queued for as long as that runs") {
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
    CHECK(loaded.tasks[second->task].time.queued_ns >= 20 * ms);
    CHECK(loaded.tasks[second->task].time.waiting_ns == 0);
    check_all_add_up(loaded);
}

TEST_CASE("work for a pool whose thread is busy is queued for as long as that runs") {
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
        CHECK(task.time.queued_ns >= 10 * ms);
        CHECK(task.time.waiting_ns == 0);
    }
    check_all_add_up(loaded);
}

TEST_CASE("a coroutine that awaits another on a pool is suspended meanwhile, and woken by it") {
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
    CHECK(&loaded.tasks[child.awaiter] == &task);
    CHECK(&loaded.tasks[child.parent] == &task);
    CHECK(child.time.running_ns >= 5 * ms);
    CHECK(task.time.suspended_ns >= 5 * ms);
    REQUIRE(task.awaits.size() != 0);
    const analysis::await_info& ask = loaded.awaits[*task.awaits.begin()];
    CHECK(loaded.sites[ask.site].label == "ask");
    CHECK(&loaded.tasks[ask.awaited] == &child);
    REQUIRE(ask.waker != analysis::none);
    CHECK(&loaded.tasks[ask.waker] == &child);
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

TEST_CASE("an operation that is destroyed without running shows as cancelled or abandoned") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, sleeper(), net::detached);
        net::post(io, [] { COROSCOPE("never"); });
        io.poll_one();
    });
    const analysis::task_info& task = task_named(loaded, "sleeper");
    CHECK(task.state == analysis::task_state::abandoned);
    CHECK(
        std::any_of(loaded.tasks.begin(), loaded.tasks.end(), [](const analysis::task_info& each) {
            return each.state == analysis::task_state::cancelled;
        }));
}
