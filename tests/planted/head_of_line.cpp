// SPDX-License-Identifier: Apache-2.0

// The replies of one connection come in their order. A big reply delays those behind it.

#include <boost/asio/experimental/channel.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::head_of_line {
namespace {

struct question {
    bool is_big = false;
    asio::steady_timer* replied = nullptr;
};
using channel = asio::experimental::channel<void(boost::system::error_code, question)>;

awaitable<void> send_reply(bool is_big) {
    if (is_big) {
        COROSCOPE("send big reply");
        co_await pause_for(20ms);
    } else {
        COROSCOPE("send reply");
        co_await pause_for(1ms);
    }
}

awaitable<void> connection(channel& questions) {
    COROSCOPE_FUNCTION();
    for (int received = 0; received < requests + 4; ++received) {
        const question next = co_await questions.async_receive(use_awaitable);
        co_await send_reply(next.is_big);
        if (next.replied != nullptr) next.replied->cancel();
    }
}

awaitable<void> answer(int number, channel& questions) {
    COROSCOPE_REQUEST("GET /item");
    asio::steady_timer replied(co_await asio::this_coro::executor, 10s);
    if (is_chosen(number)) questions.try_send(boost::system::error_code(), question{true, nullptr});
    questions.try_send(boost::system::error_code(), question{false, &replied});
    boost::system::error_code woken;
    co_await COROSCOPE_AWAIT("reply",
                             replied.async_wait(asio::redirect_error(use_awaitable, woken)));
}

}  // namespace

void run() {
    asio::io_context io;
    channel questions(io, 100);
    asio::co_spawn(io, connection(questions), asio::detached);
    serve(io, [&](int number) { return answer(number, questions); });
}

}  // namespace planted::head_of_line
