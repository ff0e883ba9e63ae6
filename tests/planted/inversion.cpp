// SPDX-License-Identifier: Apache-2.0

// A backlog of jobs that are not urgent runs before the urgent ones.

#include "programs.hpp"
#include "service.hpp"

namespace planted::inversion {
namespace {

void resize() {
    COROSCOPE("resize preview");
    block_for(2ms);
}

awaitable<void> authenticate() {
    COROSCOPE("authenticate");
    compute_for(100us);
    co_return;
}

awaitable<void> answer(asio::thread_pool& pool) {
    COROSCOPE_REQUEST("POST /login");
    co_await asio::co_spawn(pool, authenticate(), use_awaitable);
}

awaitable<void> import_pictures(asio::thread_pool& pool) {
    for (int albums = 0; albums < 4; ++albums) {
        for (int pictures = 0; pictures < 15; ++pictures) asio::post(pool, resize);
        co_await pause_for(50ms);
    }
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool pool(1);
    asio::co_spawn(io, import_pictures(pool), asio::detached);
    serve(io, [&](int) { return answer(pool); }, 5ms);
    pool.join();
}

}  // namespace planted::inversion
