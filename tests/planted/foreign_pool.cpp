// SPDX-License-Identifier: Apache-2.0

// Requests that miss a cache go on in a thread that records nothing. A job without a scope blocks
// this thread before. The trace does not show that job.

#include <coroutine>
#include <thread>

#include <coroscope/task.hpp>

#include "programs.hpp"
#include "service.hpp"
#include "worker.hpp"

namespace planted::foreign_pool {
namespace {

struct hop {
    worker& to;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const {
        to.execute([waiting] { waiting.resume(); });
    }
    void await_resume() const noexcept {}
};

coroscope::task<> load(worker& store) {
    COROSCOPE("load");
    co_await hop{store};
}

coroscope::task<> look_up(worker& store, bool is_cached) {
    COROSCOPE_REQUEST("GET /cached");
    compute_for(100us);
    if (!is_cached) co_await load(store);
}

}  // namespace

void run() {
    worker store;
    for (int number = 0; number < requests; ++number) {
        if (is_chosen(number)) store.execute([] { block_for(25ms); });
        coroscope::sync_wait(look_up(store, !is_chosen(number)));
        std::this_thread::sleep_for(1ms);
    }
}

}  // namespace planted::foreign_pool
