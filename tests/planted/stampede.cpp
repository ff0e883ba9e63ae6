// SPDX-License-Identifier: Apache-2.0

// A value of a cache expires. Each request that misses it makes the value itself.

#include <chrono>

#include "programs.hpp"
#include "service.hpp"

namespace planted::stampede {
namespace {

using clock = std::chrono::steady_clock;

awaitable<void> make_value(clock::time_point& expiry) {
    COROSCOPE("cache.fill");
    co_await pause_for(30ms);
    expiry = clock::now() + 60ms;
}

awaitable<void> answer(clock::time_point& expiry) {
    COROSCOPE_REQUEST("GET /rates");
    co_await pause_for(1ms);
    if (clock::now() >= expiry) co_await make_value(expiry);
    compute_for(50us);
}

}  // namespace

void run() {
    asio::io_context io;
    clock::time_point expiry;
    const auto from_cache = [&](int) { return answer(expiry); };
    asio::co_spawn(io, send_requests(from_cache, 3ms), asio::detached);
    asio::co_spawn(io, send_requests(from_cache, 3ms), asio::detached);
    io.run();
}

}  // namespace planted::stampede
