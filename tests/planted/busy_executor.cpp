// SPDX-License-Identifier: Apache-2.0

// The request continues on another executor, whose only thread resizes pictures.

#include "programs.hpp"
#include "service.hpp"

namespace planted::busy_executor {
namespace {

awaitable<void> resize() {
    COROSCOPE("resize");
    compute_for(30ms);
    co_return;
}

awaitable<void> store() {
    COROSCOPE("store");
    compute_for(100us);
    co_return;
}

awaitable<void> answer(int number, asio::thread_pool& pictures) {
    COROSCOPE_REQUEST("PUT /picture");
    co_await pause_for(1ms);
    if (is_chosen(number)) asio::co_spawn(pictures, resize(), asio::detached);
    co_await asio::co_spawn(pictures, store(), use_awaitable);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::thread_pool pictures(1);
    serve(io, [&](int number) { return answer(number, pictures); });
    pictures.join();
}

}  // namespace planted::busy_executor
