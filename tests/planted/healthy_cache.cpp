// SPDX-License-Identifier: Apache-2.0

// No fault: a cache whose misses are for different keys, at different times.

#include "programs.hpp"
#include "service.hpp"

namespace planted::healthy_cache {
namespace {

awaitable<void> fill() {
    COROSCOPE("cache.fill");
    co_await pause_for(6ms);
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("GET /rates");
    co_await pause_for(10ms);
    if (number % 4 == 0) co_await fill();
    compute_for(50us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::healthy_cache
