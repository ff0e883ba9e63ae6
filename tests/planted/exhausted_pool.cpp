// SPDX-License-Identifier: Apache-2.0

// Slow jobs of another type occupy both threads of the pool that the queries need.

#include "programs.hpp"
#include "service.hpp"

namespace planted::exhausted_pool {
namespace {

void report() {
    COROSCOPE("monthly report");
    block_for(30ms);
}

awaitable<void> query() {
    COROSCOPE("query");
    compute_for(100us);
    co_return;
}

awaitable<void> answer(int number, asio::thread_pool& pool) {
    COROSCOPE_REQUEST("GET /order");
    if (is_chosen(number)) {
        asio::post(pool, report);
        asio::post(pool, report);
    }
    co_await asio::co_spawn(pool, query(), use_awaitable);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool pool(2);
    serve(io, [&](int number) { return answer(number, pool); });
    pool.join();
}

}  // namespace planted::exhausted_pool
