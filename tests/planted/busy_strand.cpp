// SPDX-License-Identifier: Apache-2.0

// A computation occupies the strand on which the requests look into an index.

#include "programs.hpp"
#include "service.hpp"

namespace planted::busy_strand {
namespace {

using strand = asio::strand<asio::io_context::executor_type>;

awaitable<void> rebuild() {
    COROSCOPE("index.rebuild");
    compute_for(30ms);
    co_return;
}

awaitable<void> look_up() {
    COROSCOPE("index.look_up");
    compute_for(100us);
    co_return;
}

awaitable<void> answer(int number, strand index) {
    COROSCOPE_REQUEST("GET /word");
    co_await pause_for(1ms);
    if (is_chosen(number)) asio::co_spawn(index, rebuild(), asio::detached);
    co_await asio::co_spawn(index, look_up(), use_awaitable);
}

}  // namespace

void run() {
    asio::io_context io;
    const strand index = asio::make_strand(io);
    serve(io, [&](int number) { return answer(number, index); }, 6ms, 1);
}

}  // namespace planted::busy_strand
