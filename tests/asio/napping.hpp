// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that wait for a timer.

#include <chrono>

#include "asio_library.hpp"
#include "recording.hpp"

inline net::awaitable<void> nap(std::chrono::milliseconds length) {
    net::steady_timer timer(co_await net::this_coro::executor, length);
    co_await timer.async_wait(net::use_awaitable);
}

/// The time that a timer has left.
inline std::int64_t ns_until(const net::steady_timer& timer) {
    return std::chrono::nanoseconds(timer.expiry() - net::steady_timer::clock_type::now()).count();
}

inline net::awaitable<void> napping_child() {
    COROSCOPE_FUNCTION();
    co_await nap(2ms);
    busy(3ms);
}
