// SPDX-License-Identifier: Apache-2.0

// Jobs block under a lock, so that many of them wait for the lock on all threads of the pool.

#include <mutex>

#include "programs.hpp"
#include "service.hpp"

namespace planted::locked_call {
namespace {

class ledger {
public:
    void settle() {
        COROSCOPE("settle payment");
        const std::scoped_lock lock(mutex_);
        sync();
    }

private:
    static void sync() {
        COROSCOPE("ledger.sync");
        block_for(4ms);
    }

    std::mutex mutex_;
};

awaitable<void> authenticate() {
    COROSCOPE("authenticate");
    compute_for(100us);
    co_return;
}

awaitable<void> answer(asio::thread_pool& pool) {
    COROSCOPE_REQUEST("POST /login");
    co_await asio::co_spawn(pool, authenticate(), use_awaitable);
}

awaitable<void> take_payments(asio::thread_pool& pool, ledger& of) {
    for (int batches = 0; batches < 3; ++batches) {
        for (int payments = 0; payments < 12; ++payments) asio::post(pool, [&of] { of.settle(); });
        co_await pause_for(60ms);
    }
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool pool(3);
    ledger payments;
    asio::co_spawn(io, take_payments(pool, payments), asio::detached);
    serve(io, [&](int) { return answer(pool); }, 5ms);
    pool.join();
}

}  // namespace planted::locked_call
