// SPDX-License-Identifier: Apache-2.0

// A background job holds a mutex for coroutines while it waits for an audit.

#include "async_lock.hpp"
#include "programs.hpp"
#include "service.hpp"

namespace planted::async_mutex {
namespace {

awaitable<void> audit(async_lock& account) {
    COROSCOPE("account.audit");
    co_await account.lock();
    co_await pause_for(30ms);
    account.unlock();
}

awaitable<void> answer(int number, async_lock& account) {
    COROSCOPE_REQUEST("POST /payment");
    co_await pause_for(1ms);
    if (is_chosen(number)) {
        asio::co_spawn(co_await asio::this_coro::executor, audit(account), asio::detached);
        co_await pause_for(2ms);
    }
    co_await account.lock();
    compute_for(100us);
    account.unlock();
}

}  // namespace

void run() {
    asio::io_context io;
    async_lock account(io, "account", coroscope::resource_kind::mutex);
    serve(io, [&](int number) { return answer(number, account); });
}

}  // namespace planted::async_mutex
