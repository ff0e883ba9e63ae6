// SPDX-License-Identifier: Apache-2.0

// When the waking thread looks at a stream or an event, and when it does no more.

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

/// Keeps what any thread gives it until the test runs it.
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

/// What waits, and has not been told.
template <class Work>
std::unique_ptr<coroutine> suspended(Work work, kept_jobs& executor, outcome& result) {
    auto waiting = std::make_unique<coroutine>(await_on(work, executor, result));
    waiting->resume();
    REQUIRE(result.answer == -1);
    return waiting;
}

}  // namespace

TEST_SUITE("looks") {
    TEST_CASE("what a destroyed coroutine waited for is not looked at any more") {
        fake_stream stream;
        stream.work();
        fake_event event;
        event.record(stream);
        kept_jobs executor;
        outcome of_stream, of_event;
        suspended(stream.handle(), executor, of_stream).reset();
        suspended(event.handle(), executor, of_event).reset();
        const int before = fake_cuda_counts().queries;
        std::this_thread::sleep_for(120ms);  // two looks at a stream, and a hundred at an event
        CHECK(fake_cuda_counts().queries == before);
        stream.complete();  // its callback comes all the same
        CHECK(executor.size() == 0);
    }

    TEST_CASE("whoever destroys a coroutine while its work is looked at waits for that look") {
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

    TEST_CASE("a stream that comes to here while it is looked at goes on after that look") {
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
