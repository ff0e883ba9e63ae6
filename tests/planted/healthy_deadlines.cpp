// SPDX-License-Identifier: Apache-2.0

// No fault: each reply comes long before its time-out.

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::healthy_deadlines {
namespace {

using namespace asio::experimental::awaitable_operators;

awaitable<void> reply() {
    COROSCOPE("reply");
    co_await pause_for(20ms);
}

awaitable<void> time_out() {
    COROSCOPE("reply time-out");
    co_await pause_for(3000ms);
}

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /quote");
    co_await (reply() || time_out());
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, [](int) { return answer(); });
}

}  // namespace planted::healthy_deadlines
