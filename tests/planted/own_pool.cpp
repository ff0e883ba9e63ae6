// SPDX-License-Identifier: Apache-2.0

// The program has its own coroutine type and its own pool of one thread. A maintenance job blocks
// this thread.

#include <coroutine>
#include <exception>
#include <latch>
#include <thread>

#include "programs.hpp"
#include "service.hpp"
#include "worker.hpp"

namespace planted::own_pool {
namespace {

using pool = coroscope::executor_adaptor<worker&>;

/// A coroutine that starts at once and that nobody awaits.
struct flow {
    struct promise {
        flow get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { std::terminate(); }
    };
    using promise_type = coroscope::instrumented<promise>;
};

/// Goes on in the pool.
struct hop {
    pool& to;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const {
        to.execute([waiting] { waiting.resume(); });
    }
    void await_resume() const noexcept {}
};

flow look_up(pool& index, std::latch& left) {
    COROSCOPE_REQUEST("GET /word");
    compute_for(50us);
    co_await COROSCOPE_AWAIT("to the index", hop{index});
    {
        COROSCOPE("search index");
        compute_for(200us);
    }
    left.count_down();
}

flow vacuum(pool& index) {
    co_await COROSCOPE_AWAIT("to the index", hop{index});
    COROSCOPE("vacuum log");
    block_for(25ms);
}

}  // namespace

void run() {
    worker thread;
    pool index(thread, "index");
    std::latch left(requests);
    for (int number = 0; number < requests; ++number) {
        if (is_chosen(number)) vacuum(index);
        look_up(index, left);
        std::this_thread::sleep_for(is_chosen(number) ? 30ms : 4ms);
    }
    left.wait();
}

}  // namespace planted::own_pool
