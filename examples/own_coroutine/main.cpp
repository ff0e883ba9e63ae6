// SPDX-License-Identifier: Apache-2.0

// A coroutine type of the program's own. One line makes each of its coroutines a task: its
// promise_type is coroscope::instrumented<…>. The rest is as it was. If you cannot edit the type,
// write COROSCOPE_INSTRUMENT_COROUTINE(job); after it instead.

#include <coroscope/coroscope.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
using moment = std::chrono::steady_clock::time_point;

// A lazy coroutine without a result, which resumes its awaiter when it ends.
class job {
public:
    struct promise;
    using promise_type = coroscope::instrumented<promise>;  // the line
    using handle = std::coroutine_handle<promise_type>;

    struct promise {
        struct resume_awaiter {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise> ended) noexcept {
                return ended.promise().awaiter;
            }
            void await_resume() noexcept {}
        };

        job get_return_object() { return job(handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        resume_awaiter final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { std::terminate(); }

        std::coroutine_handle<> awaiter = std::noop_coroutine();
    };

    explicit job(handle made) : handle_(made) {}
    job(job&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    job& operator=(job&&) = delete;
    ~job() {
        if (handle_) handle_.destroy();
    }

    void start() { handle_.resume(); }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
        handle_.promise().awaiter = awaiter;
        return handle_;
    }
    void await_resume() const noexcept {}

private:
    handle handle_;
};

// A loop of one thread, with timers.
class loop {
public:
    struct pause {
        loop& in;
        std::chrono::milliseconds time;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiter) const {
            in.waiters_.emplace(std::chrono::steady_clock::now() + time, waiter);
        }
        void await_resume() const noexcept {}
    };

    pause sleep(std::chrono::milliseconds time) { return {*this, time}; }

    void run() {
        while (!waiters_.empty()) {
            const auto first = waiters_.extract(waiters_.begin());
            std::this_thread::sleep_until(first.key());
            first.mapped().resume();
        }
    }

private:
    std::multimap<moment, std::coroutine_handle<>> waiters_;
};

job fetch(loop& in) {
    COROSCOPE_FUNCTION();
    co_await COROSCOPE_AWAIT("network", in.sleep(3ms));
}

job handle_request(loop& in) {
    COROSCOPE_FUNCTION();
    co_await fetch(in);
    co_await COROSCOPE_AWAIT("disk", in.sleep(1ms));
}

}  // namespace

int main() {
    const coroscope::profile session({.output = "own_coroutine.cst", .all_threads = true});
    if (session.status().state == coroscope::session_state::refused)
        std::printf("nothing is recorded: %s\n", session.status().message);

    loop timers;
    job first = handle_request(timers);
    job second = handle_request(timers);
    first.start();
    second.start();
    timers.run();
    std::puts("handled 2 requests");
}
