// SPDX-License-Identifier: Apache-2.0

// Another thread holds a mutex while it sleeps. The requests need the mutex.

#include <mutex>

#include "programs.hpp"
#include "service.hpp"

namespace planted::lock_over_sleep {
namespace {

std::mutex cache_guard;

void flush() {
    const std::scoped_lock held(cache_guard);
    COROSCOPE("cache.flush");
    block_for(40ms);
}

void look_up() {
    COROSCOPE("cache.look_up");
    const std::scoped_lock held(cache_guard);
    compute_for(100us);
}

awaitable<void> answer(int number, asio::thread_pool& flusher) {
    COROSCOPE_REQUEST("GET /item");
    co_await pause_for(1ms);
    if (is_chosen(number)) {
        asio::post(flusher, flush);
        co_await pause_for(4ms);
    }
    look_up();
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool flusher(1);
    serve(io, [&](int number) { return answer(number, flusher); });
    flusher.join();
}

}  // namespace planted::lock_over_sleep
