// SPDX-License-Identifier: Apache-2.0

// The first requests wait until a connection has been made.

#include "programs.hpp"
#include "service.hpp"

namespace planted::cold_start {
namespace {

awaitable<void> connect(bool& connected) {
    COROSCOPE("db.connect");
    co_await pause_for(60ms);
    connected = true;
}

awaitable<void> answer(bool& connected) {
    COROSCOPE_REQUEST("GET /user");
    if (!connected) co_await connect(connected);
    co_await pause_for(2ms);
    compute_for(50us);
}

}  // namespace

void run() {
    asio::io_context io;
    bool connected = false;
    asio::co_spawn(
        io,
        [&]() -> awaitable<void> {
            co_await answer(connected);
            co_await send_requests([&](int) { return answer(connected); }, 4ms);
        },
        asio::detached);
    io.run();
}

}  // namespace planted::cold_start
