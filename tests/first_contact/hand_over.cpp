// SPDX-License-Identifier: Apache-2.0

// Threads that wait for tasks, which end on another thread. sync_wait() then destroys their frames.

#include <coroscope/coroscope.hpp>

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class worker {
public:
    ~worker() {
        post({});
        thread_.join();
    }

    void post(std::coroutine_handle<> job) {
        {
            const std::lock_guard guard(mutex_);
            jobs_.push_back(job);
        }
        has_job_.notify_one();
    }

private:
    std::coroutine_handle<> next() {
        std::unique_lock guard(mutex_);
        has_job_.wait(guard, [this] { return !jobs_.empty(); });
        const std::coroutine_handle<> job = jobs_.front();
        jobs_.pop_front();
        return job;
    }

    void run() {
        while (const std::coroutine_handle<> job = next()) job.resume();
    }

    std::mutex mutex_;
    std::condition_variable has_job_;
    std::deque<std::coroutine_handle<>> jobs_;
    std::thread thread_{[this] { run(); }};
};

struct on_worker {
    worker& to;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const { to.post(waiter); }
    void await_resume() const noexcept {}
};

coroscope::task<int> step(worker& to, int number) {
    COROSCOPE("step");
    co_await on_worker{to};
    co_return number;
}

coroscope::task<int> request(worker& to) {
    int sum = 0;
    for (int number = 0; number < 20; ++number) sum += co_await step(to, number);
    co_return sum;
}

}  // namespace

int main() {
    worker pool;
    std::vector<std::thread> clients;
    for (int client = 0; client < 4; ++client)
        clients.emplace_back([&pool] { (void)coroscope::sync_wait(request(pool)); });
    for (std::thread& each : clients) each.join();
}
