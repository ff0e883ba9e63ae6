// SPDX-License-Identifier: Apache-2.0

// Launches by Asio's coroutines and handlers, which move from thread to thread.

#include <thread>
#include <vector>

#include "../asio/asio_library.hpp"
#include "launch_ledger.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

net::awaitable<void> part_of_request(ledger& book, std::uint64_t self) {
    launch_as(book, self);
    net::steady_timer timer(co_await net::this_coro::executor, 10us);
    co_await timer.async_wait(net::use_awaitable);
    launch_as(book, self);
}

net::awaitable<void> spawned_part(ledger& book) {
    launch_as(book, own_task());
    co_return;
}

net::awaitable<void> launching_request(net::thread_pool& pool, ledger& book) {
    const std::uint64_t self = own_task();
    const auto executor = co_await net::this_coro::executor;
    for (int round = 0; round < 20; ++round) {
        launch_as(book, self);
        co_await net::post(executor, net::use_awaitable);
        launch_as(book, self);
        co_await part_of_request(book, self);
        launch_as(book, self);
        net::post(pool, [&book] { launch_as(book, own_task()); });
        co_await net::co_spawn(pool, spawned_part(book), net::use_awaitable);
        launch_as(book, self);
    }
}

}  // namespace

TEST_SUITE("launches under Asio") {
    TEST_CASE("the launches of coroutines and handlers on several threads belong to them") {
        ledger book;
        const recorded_devices found = record_devices(
            [&book] {
                net::io_context io;
                net::thread_pool pool(2);
                for (int each = 0; each < 100; ++each)
                    net::co_spawn(io, launching_request(pool, book), net::detached);
                std::vector<std::thread> threads;
                for (int each = 0; each < 3; ++each) threads.emplace_back([&io] { io.run(); });
                for (std::thread& each : threads) each.join();
                pool.join();
                launch_as(book, 0);
            },
            {.all_threads = true});
        CHECK(book.size() == 100 * 20 * 8 + 1);
        CHECK(found.kernels().size() == book.size());
        CHECK(book.wrong(found) == 0);
        CHECK(fake::ids().bad_pops == 0);
        CHECK(fake::ids().deepest == 1);
    }
}
