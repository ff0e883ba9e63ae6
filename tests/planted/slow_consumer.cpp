// SPDX-License-Identifier: Apache-2.0

// The consumer of a channel is slow for some messages. The requests wait until the channel has
// room.

#include <boost/asio/experimental/channel.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::slow_consumer {
namespace {

using channel = asio::experimental::channel<void(boost::system::error_code, int)>;

void index_document(int number) {
    COROSCOPE("index document");
    block_for(is_chosen(number) ? 30ms : 1ms);
}

awaitable<void> consume(channel& documents) {
    COROSCOPE_FUNCTION();
    for (int received = 0; received < requests; ++received)
        index_document(co_await documents.async_receive(use_awaitable));
}

awaitable<void> answer(int number, channel& documents) {
    COROSCOPE_REQUEST("PUT /document");
    compute_for(100us);
    co_await documents.async_send({}, number, use_awaitable);
}

}  // namespace

void run() {
    asio::io_context io;
    channel documents(io, 1);
    asio::co_spawn(io, consume(documents), asio::detached);
    serve(io, [&](int number) { return answer(number, documents); });
}

}  // namespace planted::slow_consumer
