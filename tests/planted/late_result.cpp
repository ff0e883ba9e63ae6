// SPDX-License-Identifier: Apache-2.0

// A worker thread fulfils some promises late, and the requests wait for it on their own thread.

#include <thread>
#include <utility>
#include <vector>

#include <coroscope/future.hpp>
#include <coroscope/task.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::late_result {
namespace {

void estimate(int number, coroscope::promise<int>& to) {
    COROSCOPE("estimate");
    block_for(is_chosen(number) ? 30ms : 1ms);
    to.set_value(number);
}

coroscope::task<> answer(int number, std::vector<std::jthread>& workers) {
    COROSCOPE_REQUEST("GET /price");
    compute_for(100us);
    coroscope::promise<int> promised;
    auto price = promised.get_future();
    workers.emplace_back(
        [number, promised = std::move(promised)]() mutable { estimate(number, promised); });
    COROSCOPE("price");
    price.get();
    co_return;
}

}  // namespace

void run() {
    std::vector<std::jthread> workers;
    for (int number = 0; number < requests; ++number) coroscope::sync_wait(answer(number, workers));
}

}  // namespace planted::late_result
