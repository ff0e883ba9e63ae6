// SPDX-License-Identifier: Apache-2.0

// No fault: each request waits for a timer of the same length.

#include "programs.hpp"
#include "service.hpp"

namespace planted::healthy_waits {
namespace {

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /item");
    co_await pause_for(60ms);
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, [](int) { return answer(); });
}

}  // namespace planted::healthy_waits
