// SPDX-License-Identifier: Apache-2.0

// A background job that is not urgent computes on the loop for a long time, ahead of urgent
// requests.

#include "programs.hpp"
#include "service.hpp"

namespace planted::background_job {
namespace {

void compact() {
    COROSCOPE("compact");
    compute_for(30ms);
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("GET /urgent");
    const auto executor = co_await asio::this_coro::executor;
    if (is_chosen(number)) asio::post(executor, compact);
    co_await pause_for(1ms);
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::background_job
