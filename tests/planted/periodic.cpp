// SPDX-License-Identifier: Apache-2.0

// A task collects garbage on the loop every 30 ms.

#include "programs.hpp"
#include "service.hpp"

namespace planted::periodic {
namespace {

void collect() {
    COROSCOPE("collect garbage");
    block_for(12ms);
}

awaitable<void> collect_from_time_to_time() {
    COROSCOPE_FUNCTION();
    for (int times = 0; times < 8; ++times) {
        co_await pause_for(30ms);
        collect();
    }
}

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /item");
    co_await pause_for(5ms);
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::co_spawn(io, collect_from_time_to_time(), asio::detached);
    serve(io, [](int) { return answer(); });
}

}  // namespace planted::periodic
