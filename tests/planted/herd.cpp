// SPDX-License-Identifier: Apache-2.0

// Each return of the only licence wakes all requests that wait for it. One can go on.

#include "programs.hpp"
#include "service.hpp"

namespace planted::herd {
namespace {

struct licence {
    explicit licence(asio::io_context& io) : returned(io, asio::steady_timer::time_point::max()) {}
    asio::steady_timer returned;
    bool is_taken = false;
};

awaitable<void> take(licence& of) {
    COROSCOPE("licence.take");
    while (of.is_taken) {
        boost::system::error_code woken;
        co_await of.returned.async_wait(asio::redirect_error(use_awaitable, woken));
        compute_for(100us);
    }
    of.is_taken = true;
}

awaitable<void> answer(licence& of) {
    COROSCOPE_REQUEST("POST /convert");
    co_await take(of);
    co_await pause_for(4ms);
    of.is_taken = false;
    of.returned.cancel();
}

}  // namespace

void run() {
    asio::io_context io;
    licence only(io);
    serve(io, [&](int) { return answer(only); }, 1ms);
}

}  // namespace planted::herd
