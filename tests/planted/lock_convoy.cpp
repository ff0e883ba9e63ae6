// SPDX-License-Identifier: Apache-2.0

// Requests that arrive together take turns at one mutex, which each holds too long.

#include <mutex>

#include "programs.hpp"
#include "service.hpp"

namespace planted::lock_convoy {
namespace {

std::mutex counters_guard;

void update_counters() {
    COROSCOPE("counters.update");
    const std::scoped_lock held(counters_guard);
    block_for(8ms);
}

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /item");
    compute_for(100us);
    update_counters();
    co_return;
}

}  // namespace

void run() {
    asio::thread_pool pool(5);
    for (int number = 0; number < requests; ++number) {
        asio::co_spawn(pool, answer(), asio::detached);
        if (number % 10 < 6) block_for(10ms);
    }
    pool.join();
}

}  // namespace planted::lock_convoy
