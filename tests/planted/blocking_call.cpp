// SPDX-License-Identifier: Apache-2.0

// A background job blocks the only thread of the loop by a call that sleeps in the kernel.

#include "programs.hpp"
#include "service.hpp"

namespace planted::blocking_call {
namespace {

void write_log() {
    COROSCOPE("log.write");
    block_for(30ms);
}

awaitable<void> log_from_time_to_time() {
    COROSCOPE_FUNCTION();
    for (int times = 0; times < 4; ++times) {
        co_await pause_for(30ms);
        write_log();
    }
}

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /item");
    co_await pause_for(2ms);
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::co_spawn(io, log_from_time_to_time(), asio::detached);
    serve(io, [](int) { return answer(); });
}

}  // namespace planted::blocking_call
