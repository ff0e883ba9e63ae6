// SPDX-License-Identifier: Apache-2.0

// No fault: short computations, a short lock, waits of different lengths, and a background task that
// takes little time.

#include <mutex>

#include "programs.hpp"
#include "service.hpp"

namespace planted::healthy_mixed {
namespace {

std::mutex counters_guard;

void count() {
    COROSCOPE("count");
    const std::scoped_lock held(counters_guard);
    compute_for(2us);
}

awaitable<void> report_from_time_to_time() {
    COROSCOPE_FUNCTION();
    for (int times = 0; times < 8; ++times) {
        co_await pause_for(25ms);
        compute_for(50us);
    }
}

awaitable<void> load(int number) {
    COROSCOPE("load");
    co_await pause_for(milliseconds(20 + number * 7 % 15));
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("GET /item");
    count();
    co_await load(number);
    compute_for(100us);
}

}  // namespace

void run() {
    asio::io_context io;
    asio::co_spawn(io, report_from_time_to_time(), asio::detached);
    serve(io, answer, 4ms, 1);
}

}  // namespace planted::healthy_mixed
