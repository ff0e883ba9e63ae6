// SPDX-License-Identifier: Apache-2.0
#pragma once

// The background coroutine: evicts expired cache entries, and every few rounds moves the
// write-ahead log into the database file, so that no request pays for either. `run` and `stop`
// belong on the timer's executor.

#include "cache.hpp"
#include "http.hpp"
#include "statistics.hpp"
#include "store.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace http_service {

class janitor {
public:
    janitor(const net::any_io_executor& executor, store& entries, cache& cached,
            statistics& counters)
        : timer_{executor}, entries_{entries}, cached_{cached}, counters_{counters} {}

    /// Returns after `stop`.
    [[nodiscard]] net::awaitable<void> run();

    void stop();

private:
    net::awaitable<void> clean(unsigned round);

    net::steady_timer timer_;
    store& entries_;
    cache& cached_;
    statistics& counters_;
    bool stopping_ = false;
};

}  // namespace http_service
