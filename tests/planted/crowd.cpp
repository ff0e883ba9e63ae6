// SPDX-License-Identifier: Apache-2.0

// Requests are slow only if many arrive at once, because each one keeps the only thread.

#include "programs.hpp"
#include "service.hpp"

namespace planted::crowd {
namespace {

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /page");
    co_await pause_for(1ms);
    COROSCOPE("render");
    block_for(3ms);
}

awaitable<void> arrive(asio::io_context& io) {
    for (int number = 0; number < requests; ++number) {
        asio::co_spawn(io, answer(), asio::detached);
        if (number < 30) co_await pause_for(7ms);
    }
}

}  // namespace

void run() {
    asio::io_context io;
    asio::co_spawn(io, arrive(io), asio::detached);
    io.run();
}

}  // namespace planted::crowd
