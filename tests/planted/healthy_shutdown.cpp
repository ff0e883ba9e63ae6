// SPDX-License-Identifier: Apache-2.0

// No fault: workers wait for jobs, and the service stops while they wait.

#include <boost/asio/experimental/channel.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::healthy_shutdown {
namespace {

using channel = asio::experimental::channel<void(boost::system::error_code, int)>;

awaitable<void> work(channel& jobs) {
    COROSCOPE_FUNCTION();
    for (;;) {
        const int number = co_await jobs.async_receive(use_awaitable);
        COROSCOPE("job");
        co_await pause_for(milliseconds(1 + number % 3));
    }
}

awaitable<void> answer(int number, channel& jobs) {
    COROSCOPE_REQUEST("POST /job");
    co_await pause_for(5ms);
    co_await jobs.async_send({}, number, use_awaitable);
}

awaitable<void> stop_after(asio::io_context& io, milliseconds time) {
    co_await pause_for(time);
    io.stop();
}

}  // namespace

void run() {
    asio::io_context io;
    channel jobs(io, 64);
    for (int workers = 0; workers < 4; ++workers) asio::co_spawn(io, work(jobs), asio::detached);
    asio::co_spawn(io, stop_after(io, 400ms), asio::detached);
    serve(io, [&](int number) { return answer(number, jobs); });
}

}  // namespace planted::healthy_shutdown
