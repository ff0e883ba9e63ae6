// SPDX-License-Identifier: Apache-2.0

// The thread on which a coroutine continues after a stream: on its executor, on the library's
// thread, or on none.

#include <coroscope/integration/cuda_completion.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"
#include "awaiting.hpp"
#include "fake_cudart.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

/// Counts the posted jobs: the waking thread may still post a job from a device's callback after
/// the callback has returned.
struct counting_executor {
    thread_executor pool{2};
    std::atomic<std::size_t> posted{0};
    void post(job next) {
        pool.post(std::move(next));
        ++posted;
    }
};

/// Keeps its jobs and never runs them.
class parking_executor {
public:
    void post(job next) {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(next));
    }

private:
    std::mutex mutex_;
    std::vector<job> jobs_;
};

/// An executor that refuses every job.
struct closed_executor {
    template <class Job>
    void execute(const Job&) {
        throw std::runtime_error("closed");
    }
};

}  // namespace

TEST_SUITE("completion") {
    TEST_CASE("a coroutine continues on its executor when the stream has come to this point, and "
              "not before") {
        fake_stream stream;
        stream.work();
        manual_executor executor;
        outcome result;
        auto waiting = await_on(stream.handle(), executor, result);
        waiting.resume();
        CHECK(executor.size() == 0);
        std::thread([&stream] { stream.complete(); }).join();
        CHECK(result.answer == -1);
        REQUIRE(executor.size() == 1);
        executor.run();
        CHECK(result.answer == cudaSuccess);
        CHECK(result.on == std::this_thread::get_id());
        CHECK(fake_cuda_counts().calls_in_callbacks == 0);
    }

    TEST_CASE("without an executor a coroutine continues on a thread of the library, and not on "
              "CUDA's thread") {
        fake_stream stream;
        stream.work();
        std::thread device = when_awaited(stream, complete);
        const std::thread::id of_device = device.get_id();
        const outcome result = sync_wait(awaited(stream.handle()));
        device.join();
        CHECK(result.answer == cudaSuccess);
        CHECK(result.on != of_device);
        CHECK(result.on != std::this_thread::get_id());
        CHECK(fake_cuda_counts().calls_in_callbacks == 0);
    }

    TEST_CASE("a coroutine that is destroyed while it waits or is queued is not resumed") {
        fake_stream stream;
        outcome result;
        stream.work();
        {
            manual_executor gone;
            auto waiting = await_on(stream.handle(), gone, result);
            waiting.resume();
        }
        stream.complete();  // the executor is destroyed, too
        stream.work();
        manual_executor executor;
        {
            auto waiting = await_on(stream.handle(), executor, result);
            waiting.resume();
            stream.complete();
            CHECK(executor.size() == 1);
        }
        executor.run();
        CHECK(result.answer == -1);
    }

    TEST_CASE("destroying and completing at the same time is safe, and does not use the executor "
              "afterwards") {
        for (int round = 0; round < 500; ++round) {
            fake_stream stream;
            stream.work();
            auto executor = std::make_unique<parking_executor>();
            outcome result;
            auto waiting =
                std::make_unique<coroutine>(await_on(stream.handle(), *executor, result));
            waiting->resume();
            std::thread device = when_awaited(stream, complete);
            waiting.reset();
            executor.reset();
            device.join();
        }
    }

    TEST_CASE(
        "if the executor takes no more jobs, the coroutine continues on the library's thread") {
        fake_stream stream;
        stream.work();
        closed_executor closed;
        std::thread device = when_awaited(stream, complete);
        const outcome result = sync_wait(awaited(stream.handle(), closed));
        device.join();
        CHECK(result.answer == cudaSuccess);
        CHECK(result.on != std::this_thread::get_id());
    }

    TEST_CASE("a thousand streams at once, completed by four threads, resume each coroutine once") {
        constexpr std::size_t count = 1000;
        recording session;
        std::vector<fake_stream> streams(count);
        std::vector<outcome> results(count);
        std::vector<coroutine> coroutines;
        counting_executor executor;
        for (std::size_t each = 0; each < count; ++each) {
            streams[each].work();
            coroutines.push_back(await_on(streams[each].handle(), executor, results[each]));
            coroutines.back().resume();
        }
        std::vector<std::thread> devices;
        for (std::size_t first = 0; first < 4; ++first)
            devices.emplace_back([&streams, first] {
                for (std::size_t each = first; each < count; each += 4) streams[each].complete();
            });
        for (std::thread& each : devices) each.join();
        while (executor.posted < count) std::this_thread::yield();
        executor.pool.join();
        for (const outcome& each : results) CHECK(each.answer == cudaSuccess);
        const recorded found = session.stop();
        CHECK(found.tasks("await_on").size() == count);
        CHECK(found.trace.awaits.size() == count);
        for (const analysis::await_info& await : found.trace.awaits)
            CHECK(await.wake_ns.has_value());
        CHECK(fake_cuda_counts().calls_in_callbacks == 0);
    }
}
