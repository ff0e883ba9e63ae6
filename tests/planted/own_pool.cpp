// SPDX-License-Identifier: Apache-2.0

// The program has its own coroutine type and its own pool of one thread. A maintenance job blocks
// this thread.

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>

#include "programs.hpp"
#include "service.hpp"

namespace planted::own_pool {
namespace {

class worker {
public:
    ~worker() {
        execute({});
        thread_.join();
    }

    void execute(std::function<void()> job) {
        {
            const std::scoped_lock lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        came_.notify_one();
    }

private:
    std::function<void()> next() {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [this] { return !jobs_.empty(); });
        std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        return job;
    }

    void run() {
        while (const std::function<void()> job = next()) job();
    }

    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<std::function<void()>> jobs_;
    std::thread thread_{[this] { run(); }};  // after what it uses
};

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
