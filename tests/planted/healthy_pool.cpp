// SPDX-License-Identifier: Apache-2.0

// No fault: each request has one job of the same length, and the pool has enough threads.

#include "programs.hpp"
#include "service.hpp"

namespace planted::healthy_pool {
namespace {

awaitable<void> make_image() {
    COROSCOPE("thumbnail");
    block_for(40ms);
    co_return;
}

awaitable<void> answer(asio::thread_pool& pool) {
    COROSCOPE_REQUEST("GET /image");
    co_await asio::co_spawn(pool, make_image(), use_awaitable);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool pool(12);
    serve(io, [&](int) { return answer(pool); });
    pool.join();
}

}  // namespace planted::healthy_pool
