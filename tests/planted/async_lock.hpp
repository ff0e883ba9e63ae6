// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock for the coroutines of one thread, which names its waits and its holders.

#include <coroscope/resource.hpp>

#include "service.hpp"

namespace planted {

class async_lock {
public:
    async_lock(asio::io_context& io, const char* name, coroscope::resource_kind kind)
        : free_(io, asio::steady_timer::time_point::max()), noted_(name, kind) {}

    awaitable<void> lock() {
        coroscope::resource_wait wait;
        if (is_locked_) {
            wait = noted_.wait_begin();
            ++waiting_;
            boost::system::error_code woken;
            co_await free_.async_wait(asio::redirect_error(use_awaitable, woken));
            --waiting_;
        }
        is_locked_ = true;
        noted_.acquired(wait);
    }

    // Passes the lock to the first waiter, so that no other task overtakes that one.
    void unlock() {
        noted_.released();
        is_locked_ = waiting_ != 0;
        free_.cancel_one();
    }

private:
    asio::steady_timer free_;
    coroscope::resource noted_;
    bool is_locked_ = false;
    int waiting_ = 0;
};

}  // namespace planted
