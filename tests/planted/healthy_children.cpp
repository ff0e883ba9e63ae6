// SPDX-License-Identifier: Apache-2.0

// No fault: two children of each request, short computations, and an attribute that does no harm.

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::healthy_children {
namespace {

using namespace asio::experimental::awaitable_operators;

awaitable<void> load(milliseconds time) {
    COROSCOPE_FUNCTION();
    co_await pause_for(time);
    compute_for(100us);
}

awaitable<void> answer(int number) {
    const coroscope::attribute tenant("tenant", is_chosen(number) ? "big" : "small");
    COROSCOPE_REQUEST("GET /product");
    co_await (load(50ms) && load(60ms));
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::healthy_children
