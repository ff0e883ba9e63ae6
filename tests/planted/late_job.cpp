// SPDX-License-Identifier: Apache-2.0

// A job of a thread pool fulfils some promises late.

#include <memory>

#include <coroscope/future.hpp>
#include <coroscope/task.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::late_job {
namespace {

int estimate(int number) {
    COROSCOPE("estimate");
    block_for(is_chosen(number) ? 30ms : 1ms);
    return number;
}

coroscope::task<> answer(int number, asio::thread_pool& pool) {
    COROSCOPE_REQUEST("GET /price");
    compute_for(100us);
    auto promised = std::make_shared<coroscope::promise<int>>();
    auto price = promised->get_future();
    asio::post(pool, [number, promised] { promised->set_value(estimate(number)); });
    co_await COROSCOPE_AWAIT("price", std::move(price));
}

}  // namespace

void run() {
    asio::thread_pool pool(1);
    for (int number = 0; number < requests; ++number) coroscope::sync_wait(answer(number, pool));
    pool.join();
}

}  // namespace planted::late_job
