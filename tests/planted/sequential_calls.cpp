// SPDX-License-Identifier: Apache-2.0

// Requests for a list ask a downstream service once per element, one call after another.

#include "programs.hpp"
#include "service.hpp"

namespace planted::sequential_calls {
namespace {

awaitable<void> fetch_author() {
    COROSCOPE("fetch author");
    co_await pause_for(3ms);
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("GET /books");
    compute_for(100us);
    const int books = is_chosen(number) ? 12 : 1;
    for (int book = 0; book < books; ++book) co_await fetch_author();
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::sequential_calls
