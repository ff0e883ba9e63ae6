// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executors that move coroutines: one that is stepped by hand, one with threads, and a timer that
// resumes on a thread of its own, like a library without support for the profiler.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace coroscope::test {

/// Nanoseconds of a steady clock.
inline std::int64_t steady_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Keeps the processor busy for `length`.
inline void spin(std::chrono::microseconds length) {
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
    }
}

/// A move-only callable without arguments.
class job {
public:
    job() = default;
    template <class Callable>
        requires(!std::is_same_v<std::decay_t<Callable>, job>)
    job(Callable&& callable)
        : body_(new body<std::decay_t<Callable>>(std::forward<Callable>(callable))) {}
    job(job&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
    job& operator=(job&& other) noexcept {
        std::swap(body_, other.body_);
        return *this;
    }
    ~job() { delete body_; }
    void operator()() { body_->run(); }

private:
    struct any_body {
        virtual ~any_body() = default;
        virtual void run() = 0;
    };
    template <class Callable>
    struct body final : any_body {
        explicit body(Callable held) : callable(std::move(held)) {}
        void run() override { callable(); }
        Callable callable;
    };
    any_body* body_ = nullptr;
};

/// Runs its jobs when the test calls run() or run_one(), on the test's thread. Each job waits for a
/// microsecond at least, so that every clock shows a time in the queue.
class manual_executor {
public:
    void execute(job next) { jobs_.push_back(std::move(next)); }
    bool run_one() {
        if (jobs_.empty()) return false;
        spin(std::chrono::microseconds(1));
        job next = std::move(jobs_.front());
        jobs_.pop_front();
        next();
        return true;
    }
    void run() {
        while (run_one()) {
        }
    }
    std::size_t size() const { return jobs_.size(); }
    void clear() { jobs_.clear(); }

private:
    std::deque<job> jobs_;
};

/// Threads that run the posted jobs, in order. The destructor runs the remaining jobs.
class thread_executor {
public:
    explicit thread_executor(unsigned threads = 1) {
        for (unsigned each = 0; each < threads; ++each) threads_.emplace_back([this] { work(); });
    }
    thread_executor(const thread_executor&) = delete;
    thread_executor& operator=(const thread_executor&) = delete;
    ~thread_executor() { join(); }

    // Notifies under the lock: a job may end the executor.
    void post(job next) {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(next));
        changed_.notify_one();
    }
    void join() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_all();
        for (std::thread& each : threads_) {
            if (each.joinable()) each.join();
        }
    }

    /// `co_await executor.hop()`: a plain hop that the profiler does not know.
    auto hop() {
        struct awaiter {
            thread_executor* executor;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> waiter) const {
                executor->post([waiter] { waiter.resume(); });
            }
            void await_resume() const noexcept {}
        };
        return awaiter{this};
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
            if (jobs_.empty()) return;
            job next = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            next();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<job> jobs_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

/// Bounds of the time during which a coroutine was away, on a machine under any load. The recorded
/// time lies between them.
struct measured_wait {
    std::atomic<std::int64_t> before_ns{0};   ///< the awaitable is made
    std::atomic<std::int64_t> suspend_ns{0};  ///< in its await_suspend
    std::atomic<std::int64_t> resume_ns{0};   ///< as it is resumed or posted
    std::atomic<std::int64_t> after_ns{0};    ///< in its await_resume
    std::int64_t inside_ns() const { return resume_ns.load() - suspend_ns.load(); }
    std::int64_t outside_ns() const { return after_ns.load() - before_ns.load(); }
};

/// `co_await timed_wait(executor, 30ms, wait)`: the executor's thread sleeps, then resumes.
class timed_wait {
public:
    timed_wait(thread_executor& loop, std::chrono::milliseconds length, measured_wait& wait)
        : loop_(&loop), length_(length), wait_(&wait) {
        wait.before_ns = steady_ns();
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const {
        wait_->suspend_ns = steady_ns();
        loop_->post([waiter, length = length_, wait = wait_] {
            std::this_thread::sleep_for(length);
            wait->resume_ns = steady_ns();
            waiter.resume();
        });
    }
    void await_resume() const noexcept { wait_->after_ns = steady_ns(); }

private:
    thread_executor* loop_;
    std::chrono::milliseconds length_;
    measured_wait* wait_;
};

}  // namespace coroscope::test
