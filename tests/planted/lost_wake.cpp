// SPDX-License-Identifier: Apache-2.0

// Some notifications are sent before the request waits for them, and are lost.

#include <chrono>
#include <memory>

#include "programs.hpp"
#include "service.hpp"

namespace planted::lost_wake {
namespace {

using signal = asio::steady_timer;

awaitable<void> work(std::shared_ptr<signal> done, milliseconds time) {
    co_await pause_for(time);
    done->cancel();
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("POST /mail");
    const auto executor = co_await asio::this_coro::executor;
    const auto done = std::make_shared<signal>(executor, std::chrono::hours(1));
    asio::co_spawn(executor, work(done, is_chosen(number) ? 0ms : 4ms), asio::detached);
    co_await pause_for(2ms);
    COROSCOPE("wait for delivery");
    boost::system::error_code woken;
    co_await done->async_wait(asio::redirect_error(use_awaitable, woken));
}

awaitable<void> stop_after(asio::io_context& io, milliseconds time) {
    co_await pause_for(time);
    io.stop();
}

}  // namespace

void run() {
    asio::io_context io;
    asio::co_spawn(io, stop_after(io, 400ms), asio::detached);
    serve(io, answer);
}

}  // namespace planted::lost_wake
