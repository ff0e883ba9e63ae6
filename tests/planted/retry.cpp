// SPDX-License-Identifier: Apache-2.0

// A call fails, and the request tries again after a long back-off.

#include "programs.hpp"
#include "service.hpp"

namespace planted::retry {
namespace {

awaitable<bool> charge(bool succeeds) {
    COROSCOPE("charge");
    co_await pause_for(1ms);
    co_return succeeds;
}

awaitable<void> back_off() {
    asio::steady_timer timer(co_await asio::this_coro::executor, 30ms);
    co_await COROSCOPE_AWAIT("back-off", timer.async_wait(use_awaitable));
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("POST /order");
    while (!co_await charge(!is_chosen(number))) {
        co_await back_off();
        number = 0;
    }
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::retry
