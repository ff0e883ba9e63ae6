// SPDX-License-Identifier: Apache-2.0

// The queries of the waking thread for streams and events, and their end.

#include <coroscope/integration/cuda_completion.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "../runtime/support/executors.hpp"
#include "awaiting.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

/// Keeps the jobs of all threads until the test runs them.
class kept_jobs {
public:
    void post(job next) {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(next));
    }
    std::size_t size() {
        const std::lock_guard lock(mutex_);
        return jobs_.size();
    }
    void run() {
        for (job& each : jobs_) each();
    }

private:
    std::mutex mutex_;
    std::vector<job> jobs_;
};

/// A coroutine that waits, and has no answer yet.
template <class Work>
std::unique_ptr<coroutine> suspended(Work work, kept_jobs& executor, outcome& result) {
    auto waiting = std::make_unique<coroutine>(await_on(work, executor, result));
    waiting->resume();
    REQUIRE(result.answer == -1);
    return waiting;
}

}  // namespace

TEST_SUITE("looks") {
    TEST_CASE("the work of a destroyed coroutine is queried no more") {
        fake_stream stream;
        stream.work();
        fake_event event;
        event.record(stream);
        kept_jobs executor;
        outcome of_stream, of_event;
        suspended(stream.handle(), executor, of_stream).reset();
        suspended(event.handle(), executor, of_event).reset();
        const int before = fake_cuda_counts().queries;
        std::this_thread::sleep_for(
            120ms);  // the time of two queries of a stream, and a hundred of an event
        CHECK(fake_cuda_counts().queries == before);
        stream.complete();  // the callback still comes
        CHECK(executor.size() == 0);
    }

    TEST_CASE("the destruction of a coroutine whose work is being queried waits for the query") {
        fake_stream stream;
        stream.work();
        fake_event event;
        event.record(stream);
        kept_jobs executor;
        outcome result;
        auto waiting = suspended(event.handle(), executor, result);
        held_queries held;
        held.wait_for_one();
        std::thread device([&held] {
            std::this_thread::sleep_for(20ms);
            held.let_go();
        });
        waiting.reset();
        CHECK(held.inside() == 0);
        device.join();
        CHECK(result.answer == -1);
    }

    TEST_CASE("a coroutine whose stream completes during a query continues after the query") {
        fake_stream stream;
        stream.work();
        kept_jobs executor;
        outcome result;
        const auto waiting = suspended(stream.handle(), executor, result);
        held_queries held;
        held.wait_for_one();
        stream.complete();
        CHECK(executor.size() == 0);
        held.let_go();
        while (executor.size() == 0) std::this_thread::yield();
        executor.run();
        CHECK(result.answer == cudaSuccess);
        CHECK(fake_cuda_counts().calls_in_callbacks == 0);
    }
}
