// SPDX-License-Identifier: Apache-2.0

// Each request starts a watcher that never ends.

#include <chrono>

#include "programs.hpp"
#include "service.hpp"

namespace planted::growing {
namespace {

awaitable<void> watch() {
    COROSCOPE("watch");
    asio::steady_timer closed(co_await asio::this_coro::executor, std::chrono::hours(1));
    co_await closed.async_wait(use_awaitable);
}

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /file");
    asio::co_spawn(co_await asio::this_coro::executor, watch(), asio::detached);
    co_await pause_for(2ms);
}

awaitable<void> stop_after(asio::io_context& io, milliseconds time) {
    co_await pause_for(time);
    io.stop();
}

}  // namespace

void run() {
    asio::io_context io;
    asio::co_spawn(io, stop_after(io, 300ms), asio::detached);
    serve(io, [](int) { return answer(); }, 6ms);
}

}  // namespace planted::growing
