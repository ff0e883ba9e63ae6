// SPDX-License-Identifier: Apache-2.0

// Awaiting streams and events by repeated queries on an executor.

#include <coroscope/integration/cuda_completion.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"
#include "awaiting.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

/// An executor that takes only one job.
class closing_executor {
public:
    void post(job next) {
        if (closed_.exchange(true)) throw std::runtime_error("closed");
        pool_.post(std::move(next));
    }

private:
    std::atomic<bool> closed_{false};
    thread_executor pool_;
};

/// An executor whose second call lasts until let_go().
class holding_executor {
public:
    void post(job next) {
        job_ = std::move(next);
        if (!taken_) return;
        used_ = true;
        while (!let_go_) std::this_thread::yield();
        used_ = false;
    }
    job take() {
        taken_ = true;
        return std::move(job_);
    }
    void wait_until_used() const {
        while (!used_) std::this_thread::yield();
    }
    bool used() const { return used_; }
    void let_go() { let_go_ = true; }

private:
    job job_;
    std::atomic<bool> taken_{false}, used_{false}, let_go_{false};
};

/// An executor that calls `inside` once, inside its second call.
class interrupted_executor {
public:
    explicit interrupted_executor(std::function<void()> inside) : inside_(std::move(inside)) {}
    void post(job next) {
        jobs_.push_back(std::move(next));
        if (jobs_.size() == 2) inside_();
    }
    void run(std::size_t number) { jobs_[number](); }

private:
    std::function<void()> inside_;
    std::deque<job> jobs_;
};

task<cudaError_t> polled(cudaStream_t stream, closing_executor& executor) {
    co_return co_await cuda::polling(stream, executor);
}

}  // namespace

TEST_SUITE("polling") {
    TEST_CASE("polling queries on the executor until the work is done, and continues there") {
        fake_stream stream;
        stream.work();
        fake_event event;
        event.record(stream);
        manual_executor executor;
        outcome of_stream, of_event;
        auto first = poll_on(stream.handle(), executor, of_stream);
        auto second = poll_on(event.handle(), executor, of_event);
        first.resume();
        second.resume();
        for (int round = 0; round < 10; ++round) CHECK(executor.run_one());
        CHECK(executor.size() == 2);
        stream.complete();
        executor.run();
        CHECK(of_stream.answer == cudaSuccess);
        CHECK(of_event.answer == cudaSuccess);
        CHECK(of_event.on == std::this_thread::get_id());
    }

    TEST_CASE("polling ends when its coroutine is destroyed, and returns an error of the stream") {
        fake_stream stream;
        stream.work();
        manual_executor executor;
        outcome result, failed;
        {
            auto waiting = poll_on(stream.handle(), executor, result);
            waiting.resume();
        }
        executor.run();
        auto other = poll_on(stream.handle(), executor, failed);
        other.resume();
        CHECK(executor.run_one());
        stream.fail(cudaErrorECCUncorrectable);
        executor.run();
        CHECK(result.answer == -1);
        CHECK(failed.answer == cudaErrorECCUncorrectable);
    }

    TEST_CASE("the destruction of a coroutine during the executor's call waits for that call") {
        fake_stream stream;
        stream.work();
        auto executor = std::make_unique<holding_executor>();
        outcome result;
        auto waiting = std::make_unique<coroutine>(poll_on(stream.handle(), *executor, result));
        waiting->resume();
        std::thread polling([poll = executor->take()]() mutable { poll(); });
        executor->wait_until_used();
        std::thread device([&held = *executor] {
            std::this_thread::sleep_for(20ms);
            held.let_go();
        });
        waiting.reset();
        CHECK_FALSE(executor->used());
        device.join();
        executor.reset();
        polling.join();
        CHECK(result.answer == -1);
    }

    TEST_CASE("a job that an executor runs inside its call may destroy the polling coroutine") {
        fake_stream stream;
        stream.work();
        std::unique_ptr<coroutine> waiting;
        interrupted_executor executor([&waiting] { waiting.reset(); });
        outcome result;
        waiting = std::make_unique<coroutine>(poll_on(stream.handle(), executor, result));
        waiting->resume();
        executor.run(0);
        CHECK_FALSE(waiting);
        stream.complete();
        executor.run(1);
        CHECK(result.answer == -1);
    }

    TEST_CASE("polling continues on the library's thread if its executor takes no more jobs") {
        fake_stream stream;
        stream.work();
        closing_executor executor;
        std::thread device([&stream] {
            std::this_thread::sleep_for(5ms);
            stream.complete();
        });
        CHECK(sync_wait(polled(stream.handle(), executor)) == cudaSuccess);
        device.join();
        stream.work();
        CHECK_THROWS_AS(sync_wait(polled(stream.handle(), executor)), std::runtime_error);
    }

    TEST_CASE("after polling, the wake is the moment at which the coroutine continues") {
        recording session;
        fake_stream stream;
        stream.work();
        manual_executor executor;
        outcome result;
        auto waiting = poll_on(stream.handle(), executor, result);
        waiting.resume();
        CHECK(executor.run_one());
        stream.complete();
        executor.run();
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("poll_on"));
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].wake_ns == awaits[0].resume_ns);
    }
}
