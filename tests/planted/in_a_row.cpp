// SPDX-License-Identifier: Apache-2.0

// A page needs three answers that do not depend on each other, and asks for them one by one.

#include <coroscope/task.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::in_a_row {
namespace {

awaitable<void> load_user() {
    COROSCOPE("load user");
    co_await pause_for(8ms);
}

awaitable<void> load_orders() {
    COROSCOPE("load orders");
    co_await pause_for(15ms);
}

awaitable<void> load_offers() {
    COROSCOPE("load offers");
    co_await pause_for(9ms);
}

awaitable<void> answer() {
    COROSCOPE_REQUEST("GET /home");
    co_await load_user();
    co_await load_orders();
    co_await load_offers();
    compute_for(50us);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, [](int) { return answer(); });
}

}  // namespace planted::in_a_row
