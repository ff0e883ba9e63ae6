// SPDX-License-Identifier: Apache-2.0

// Requests ask again and again whether their job is done, instead of being woken at its end.

#include "programs.hpp"
#include "service.hpp"

namespace planted::polling {
namespace {

awaitable<void> run_job(bool& done) {
    co_await pause_for(22ms);
    done = true;
}

awaitable<void> wait_until(const bool& done) {
    COROSCOPE("wait for job");
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!done) {
        timer.expires_after(2ms);
        co_await timer.async_wait(use_awaitable);
    }
}

awaitable<void> answer() {
    COROSCOPE_REQUEST("POST /job");
    bool done = false;
    asio::co_spawn(co_await asio::this_coro::executor, run_job(done), asio::detached);
    co_await wait_until(done);
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, [](int) { return answer(); });
}

}  // namespace planted::polling
