// SPDX-License-Identifier: Apache-2.0

// emit_nvtx: Asio's coroutines, by the calls that a tool sees.

#include <chrono>

#include "../asio/asio_library.hpp"
#include "nvtx_calls.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

net::awaitable<void> sleeper() {
    net::steady_timer timer(co_await net::this_coro::executor, std::chrono::milliseconds(1));
    co_await timer.async_wait(net::use_awaitable);
}

}  // namespace

TEST_CASE("a spawned coroutine is a range until it ends, and a pushed range while it runs") {
    make_nvtx_domain();
    const emit_nvtx emit{{.tasks = true}};
    net::io_context io;
    net::co_spawn(io, sleeper(), net::detached);
    CHECK(nvtx_calls() == lines{"start 1 coroscope: co_spawn"});
    io.run();
    const std::string push = "push coroscope: co_spawn";
    CHECK(nvtx_calls() == lines{push, "pop", push, "pop", "end 1"});
}
