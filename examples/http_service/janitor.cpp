// SPDX-License-Identifier: Apache-2.0
#include "janitor.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <coroscope/coroscope.hpp>

#include <iostream>

namespace http_service {

namespace {

constexpr std::chrono::milliseconds period{200};
constexpr unsigned rounds_per_checkpoint = 5;

}  // namespace

net::awaitable<void> janitor::run() {
    COROSCOPE_FUNCTION();
    for (unsigned round = 1; !stopping_; ++round) {
        boost::system::error_code cancelled;
        timer_.expires_after(period);
        co_await COROSCOPE_AWAIT("janitor.period", timer_.async_wait(net::redirect_error(
                                                       net::use_awaitable, cancelled)));
        if (!cancelled) {
            co_await clean(round);
        }
    }
}

void janitor::stop() {
    stopping_ = true;  // for a round in progress, which has no timer to cancel
    timer_.cancel();
}

net::awaitable<void> janitor::clean(unsigned round) {
    COROSCOPE_FUNCTION();
    counters_.cache_evictions.fetch_add(cached_.evict_expired(), std::memory_order_relaxed);
    if (round % rounds_per_checkpoint != 0) {
        co_return;
    }
    try {
        co_await entries_.checkpoint();
    } catch (const sqlite::error& failure) {
        std::cerr << std::string{"http_service: checkpoint: "} + failure.what() + '\n';
    }
}

}  // namespace http_service
