// SPDX-License-Identifier: Apache-2.0

// The pool has one thread. Some requests make many images at once, and their jobs wait for each
// other.

#include "programs.hpp"
#include "service.hpp"

namespace planted::small_pool {
namespace {

awaitable<void> make_image() {
    COROSCOPE("thumbnail");
    block_for(3ms);
    co_return;
}

awaitable<void> answer(int number, asio::thread_pool& pool) {
    COROSCOPE_REQUEST("GET /gallery");
    if (is_chosen(number))
        for (int images = 0; images < 12; ++images)
            asio::co_spawn(pool, make_image(), asio::detached);
    co_await asio::co_spawn(pool, make_image(), use_awaitable);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool pool(1);
    serve(io, [&](int number) { return answer(number, pool); }, 12ms);
    pool.join();
}

}  // namespace planted::small_pool
