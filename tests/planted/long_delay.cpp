// SPDX-License-Identifier: Apache-2.0

// Some requests wait for more data until a timer expires. Its delay is too long.

#include "programs.hpp"
#include "service.hpp"

namespace planted::long_delay {
namespace {

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("POST /event");
    co_await pause_for(1ms);
    asio::steady_timer batch(co_await asio::this_coro::executor, is_chosen(number) ? 30ms : 1ms);
    co_await COROSCOPE_AWAIT("batch delay", batch.async_wait(use_awaitable));
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::long_delay
