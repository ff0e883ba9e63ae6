// SPDX-License-Identifier: Apache-2.0
#pragma once

// A service with a pool of one thread, as a user's test has it.

#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <coroscope/coroscope.hpp>

namespace image_service {

class thread_pool {
public:
    void execute(std::function<void()> job) {
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        filled_.notify_one();
    }

private:
    void run(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (filled_.wait(lock, stop, [this] { return !jobs_.empty(); })) {
            const std::function<void()> job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any filled_;
    std::deque<std::function<void()>> jobs_;
    std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

/// Moves the awaiting coroutine to the pool.
struct enter {
    coroscope::executor_adaptor<thread_pool&>& pool;
    static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const {
        pool.execute([waiting] { waiting.resume(); });
    }
    static void await_resume() noexcept {}
};

/// Makes a thumbnail, which blocks the pool's thread for that time.
inline coroscope::task<int> get_image(coroscope::executor_adaptor<thread_pool&>& pool,
                                      std::chrono::milliseconds time) {
    COROSCOPE_REQUEST("GET /image");
    co_await enter{pool};
    COROSCOPE("thumbnail");
    std::this_thread::sleep_for(time);
    co_return 1;
}

inline void serve_request(std::chrono::milliseconds time) {
    thread_pool threads;
    coroscope::executor_adaptor<thread_pool&> pool(threads, "resizing");
    coroscope::sync_wait(get_image(pool, time));
}

}  // namespace image_service
