// SPDX-License-Identifier: Apache-2.0

// Requests hand each small step to a pool and come back.

#include "programs.hpp"
#include "service.hpp"

namespace planted::ping_pong {
namespace {

awaitable<void> check_word() {
    COROSCOPE("check word");
    compute_for(5us);
    co_return;
}

awaitable<void> answer(asio::thread_pool& pool) {
    COROSCOPE_REQUEST("POST /text");
    for (int word = 0; word < 40; ++word)
        co_await asio::co_spawn(pool, check_word(), use_awaitable);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool pool(1);
    serve(io, [&](int) { return answer(pool); }, 6ms);
    pool.join();
}

}  // namespace planted::ping_pong
