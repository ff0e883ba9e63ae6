// SPDX-License-Identifier: Apache-2.0

// Some replies never come. The request waits until its time-out cancels the operation.

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::lost_reply {
namespace {

using namespace asio::experimental::awaitable_operators;

awaitable<void> reply(int number) {
    COROSCOPE("reply");
    co_await pause_for(is_chosen(number) ? 10'000ms : 2ms);
}

awaitable<void> time_out() {
    COROSCOPE("reply time-out");
    co_await pause_for(30ms);
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("GET /quote");
    co_await (reply(number) || time_out());
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::lost_reply
