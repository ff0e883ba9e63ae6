// SPDX-License-Identifier: Apache-2.0

// Most attempts end by their time-out, because it is shorter than the replies take.

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::time_outs {
namespace {

using namespace asio::experimental::awaitable_operators;

awaitable<void> quote(int number) {
    COROSCOPE("quote");
    co_await pause_for(number % 4 == 0 ? 5ms : 200ms);
}

awaitable<void> time_out() {
    COROSCOPE("quote time-out");
    co_await pause_for(20ms);
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("GET /quote");
    co_await (quote(number) || time_out());
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::time_outs
