// SPDX-License-Identifier: Apache-2.0

// A thread pool of the program's own, behind an executor_adaptor: each job is a task, and the time
// between its post and its run is queued time.

#include <coroscope/coroscope.hpp>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class pool {
public:
    explicit pool(int threads) {
        for (int count = 0; count < threads; ++count) threads_.emplace_back([this] { run(); });
    }
    /// Runs the jobs that wait, then ends the threads.
    ~pool() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
        for (std::thread& each : threads_) each.join();
    }

    /// The only function that an executor_adaptor needs.
    void execute(std::function<void()> job) {
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        changed_.notify_one();
    }

private:
    void run() {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
            if (jobs_.empty()) return;
            const std::function<void()> job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    bool closed_ = false;
    std::vector<std::thread> threads_;
};

int parse(int page) {
    COROSCOPE_FUNCTION();
    int sum = 0;
    for (int at = 0; at < 100'000; ++at) sum += (at ^ page) % 7;
    return sum;
}

}  // namespace

int main() {
    const coroscope::profile session({.output = "thread_pool.cst", .all_threads = true});
    if (session.status().state == coroscope::session_state::refused)
        std::printf("nothing is recorded: %s\n", session.status().message);

    constexpr int pages = 40;
    std::vector<int> sums(pages);
    {
        pool threads(2);
        coroscope::executor_adaptor jobs(threads, "parsers");
        for (int page = 0; page < pages; ++page)
            jobs.execute([page, &sums] { sums[static_cast<std::size_t>(page)] = parse(page); });
    }
    std::printf("parsed %d pages\n", pages);
    return sums.front() > 0 ? 0 : 1;
}
