// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pool of one thread, as a program writes its own. Nothing of it is recorded.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace planted {

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

}  // namespace planted
