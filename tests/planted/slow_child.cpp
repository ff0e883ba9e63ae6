// SPDX-License-Identifier: Apache-2.0

// The request waits for two children together. One of them is slow for some requests.

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::slow_child {
namespace {

using namespace asio::experimental::awaitable_operators;

awaitable<void> load_price() {
    COROSCOPE("load price");
    co_await pause_for(2ms);
}

awaitable<void> load_reviews(int number) {
    COROSCOPE("load reviews");
    co_await pause_for(is_chosen(number) ? 30ms : 2ms);
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("GET /product");
    co_await (load_price() && load_reviews(number));
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::slow_child
