// SPDX-License-Identifier: Apache-2.0

// Only the big tenant's answers take long to serialise.

#include "programs.hpp"
#include "service.hpp"

namespace planted::big_tenant {
namespace {

void serialise(bool is_big) {
    COROSCOPE("serialise");
    compute_for(is_big ? 30ms : 200us);
}

awaitable<void> answer(int number) {
    const coroscope::attribute tenant("tenant", is_chosen(number) ? "big" : "small");
    COROSCOPE_REQUEST("GET /list");
    co_await pause_for(1ms);
    serialise(is_chosen(number));
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::big_tenant
