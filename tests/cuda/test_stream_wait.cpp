// SPDX-License-Identifier: Apache-2.0

// The awaited streams in a trace, against a fake recorder of devices.

#include <coroscope/integration/cuda_completion.hpp>

#include <atomic>
#include <thread>

#include <coroscope/detail/device_recorder.hpp>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"
#include "fake_cudart.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

fake_stream streams[2];

detail::device_stream identify(void* stream, bool) noexcept {
    for (std::uint32_t each = 0; each < 2; ++each)
        if (stream == streams[each].handle()) return {5, each + 40};
    return {trace::device_unknown, trace::device_unknown};
}

const detail::device_recorder recorder{
    "cuda",
    [](std::uint64_t, detail::device_message&) noexcept { return true; },
    [](bool) noexcept {},
    []() noexcept {},
    [](std::uint64_t) noexcept {},
    identify,
    [](const void*) noexcept { return detail::device_event{}; },
};

task<> awaits_both(thread_executor& pool) {
    static_cast<void>(co_await cuda::completion(streams[0].handle(), pool));
    static_cast<void>(co_await cuda::completion(streams[1].handle(), pool));
}

task<> awaits_both_in_one(thread_executor& pool) {
    const cudaError_t answers[] = {co_await cuda::completion(streams[0].handle(), pool),
                                   co_await cuda::completion(streams[1].handle(), pool)};
    static_cast<void>(answers);
}

/// A coroutine that is no task, and waits for a device.
template <class Await>
foreign::eager<int, foreign::plain> release(Await await, std::atomic<int>& released) {
    const cudaError_t answer = co_await await();
    ++released;
    co_return static_cast<int>(answer);
}

/// Starts two of these coroutines, and awaits something else.
task<> starts_others(thread_executor& pool, std::atomic<int>& released) {
    const auto told = release([] { return cuda::completion(streams[0].handle()); }, released);
    const auto polled =
        release([&pool] { return cuda::polling(streams[0].handle(), pool); }, released);
    co_await COROSCOPE_AWAIT("elsewhere", pool.hop());
}

task<> awaits_in_vain(thread_executor& pool, cudaError_t& answer) {
    answer = co_await cuda::completion(streams[1].handle());
    co_await COROSCOPE_AWAIT("elsewhere", pool.hop());
}

void check_awaits(task<> (*both)(thread_executor&), const char* name) {
    detail::register_device_recorder(recorder);
    recording session({.all_threads = true, .use_device = "cuda"});
    thread_executor pool;
    streams[0].work();
    streams[1].work();
    std::thread device([] {
        for (fake_stream& each : streams) {
            while (each.enqueued() < 2) std::this_thread::yield();
            each.complete();
        }
    });
    sync_wait(both(pool));
    device.join();
    pool.join();
    const recorded found = session.stop();
    REQUIRE(found.trace.device_waits.size() == 2);
    for (std::uint32_t each = 0; each < 2; ++each) {
        const analysis::device_wait& wait = found.trace.device_waits[each];
        CHECK(wait.task == found.task_index(name));
        REQUIRE(wait.await != analysis::none);
        CHECK(found.trace.awaits[wait.await].suspend_ns >= wait.time_ns);
        CHECK(wait.context == 5);
        CHECK(wait.stream == 40 + each);
    }
    CHECK(found.trace.device_waits[0].await != found.trace.device_waits[1].await);
}

}  // namespace

TEST_SUITE("device waits") {
    TEST_CASE("an await names the stream that it waits for") {
        check_awaits(awaits_both, "awaits_both");
        check_awaits(awaits_both_in_one, "awaits_both_in_one");
    }

    TEST_CASE("the waits of coroutines that a task starts explain no suspension of the task") {
        detail::register_device_recorder(recorder);
        recording session({.all_threads = true, .use_device = "cuda"});
        thread_executor pool;
        std::atomic<int> released = 0;
        streams[0].work();
        sync_wait(starts_others(pool, released));
        streams[0].complete();
        while (released != 2) std::this_thread::yield();
        pool.join();
        const recorded found = session.stop();
        CHECK(found.trace.awaits.size() == 1);
        CHECK(found.trace.device_waits.empty());
    }

    TEST_CASE("an await that fails at once explains no later suspension") {
        detail::register_device_recorder(recorder);
        recording session({.all_threads = true, .use_device = "cuda"});
        thread_executor pool;
        cudaError_t answer = cudaSuccess;
        streams[1].work();
        streams[1].refuse_callbacks(cudaErrorInvalidValue);
        sync_wait(awaits_in_vain(pool, answer));
        streams[1].refuse_callbacks(cudaSuccess);
        streams[1].complete();
        pool.join();
        const recorded found = session.stop();
        CHECK(answer == cudaErrorInvalidValue);
        REQUIRE(found.trace.awaits.size() == 2);
        CHECK(found.trace.awaits[0].at_once);
        for (const analysis::device_wait& wait : found.trace.device_waits)
            CHECK(wait.await == analysis::none);
    }
}
