// SPDX-License-Identifier: Apache-2.0

// Awaiting streams and events, against a fake CUDA runtime: the answer, and its time.

#include <coroscope/integration/cuda_completion.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "../runtime/support/executors.hpp"
#include "awaiting.hpp"
#include "fake_cudart.hpp"
#include "no_exceptions.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

TEST_SUITE("completion") {
    TEST_CASE(
        "awaiting a stream that is idle or has failed does not suspend, and returns its answer") {
        fake_stream stream;
        manual_executor executor;
        outcome idle, failed;
        await_on(stream.handle(), executor, idle).resume();
        CHECK(idle.answer == cudaSuccess);
        stream.work();
        stream.fail(cudaErrorLaunchFailure);
        await_on(stream.handle(), executor, failed).resume();
        CHECK(failed.answer == cudaErrorLaunchFailure);
        CHECK(executor.size() == 0);
    }

    TEST_CASE("later work of the stream is not waited for") {
        fake_stream stream;
        stream.work();
        manual_executor executor;
        outcome result;
        auto waiting = await_on(stream.handle(), executor, result);
        waiting.resume();
        stream.work();
        CHECK(stream.enqueued() == 3);  // work, the callback, work
        stream.complete();
        executor.run();
        CHECK(result.answer == cudaSuccess);
    }

    TEST_CASE("a query that finds a stream not ready leaves no last error on the thread") {
        fake_stream stream;
        stream.work();
        manual_executor executor;
        outcome result;
        auto waiting = await_on(stream.handle(), executor, result);
        waiting.resume();
        CHECK(cudaGetLastError() == cudaSuccess);
        stream.complete();
        executor.run();
    }

    TEST_CASE("an error during the wait is the answer, although no callback comes") {
        fake_stream stream;
        stream.work();
        std::thread device =
            when_awaited(stream, [](fake_stream& of) { of.fail(cudaErrorIllegalAddress); });
        CHECK(sync_wait(awaited(stream.handle())).answer == cudaErrorIllegalAddress);
        device.join();
    }

    TEST_CASE("a wait ends if the context is destroyed with all enqueued work") {
        fake_stream stream;
        stream.work();
        std::thread device = when_awaited(stream, [](fake_stream& of) { of.lose_everything(); });
        CHECK(sync_wait(awaited(stream.handle())).answer == cudaSuccess);
        device.join();
    }

    TEST_CASE("a stream that accepts no callback returns its error at once") {
        fake_stream stream;
        stream.work();
        stream.refuse_callbacks(cudaErrorStreamCaptureUnsupported);
        manual_executor executor;
        outcome result;
        await_on(stream.handle(), executor, result).resume();
        CHECK(result.answer == cudaErrorStreamCaptureUnsupported);
    }

    TEST_CASE("a wait for a default stream uses an event of its own, which is destroyed") {
        fake_stream& stream = fake_stream::of(nullptr);
        for (cudaStream_t handle : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
            stream.work();
            manual_executor executor;
            outcome result;
            auto waiting = await_on(handle, executor, result);
            waiting.resume();
            CHECK(fake_cuda_counts().events_alive >= 1);
            std::thread([&stream] { stream.complete(); }).join();
            executor.run();
            CHECK(result.answer == cudaSuccess);
        }
        while (fake_cuda_counts().events_alive != 0) std::this_thread::sleep_for(1ms);
        CHECK(fake_cuda_counts().calls_in_callbacks == 0);
    }

    TEST_CASE("a wait for an event does not wait for the rest of its stream") {
        fake_stream early, late;
        early.work();
        late.work();
        fake_event event, later;
        event.record(early);
        early.work();
        later.record(late);
        outcome result, other;
        std::atomic<bool> first_is_there{false};
        const auto await_both = [&](thread_executor& pool) -> task<> {
            result.put(co_await cuda::completion(event.handle(), pool));
            first_is_there = true;
            other.put(co_await cuda::completion(later.handle(), pool));
        };
        thread_executor pool;
        std::thread device([&] {
            early.complete_one();
            while (!first_is_there) std::this_thread::yield();
            late.fail(cudaErrorLaunchTimeout);
        });
        sync_wait(await_both(pool));
        device.join();
        CHECK(early.enqueued() == 1);
        CHECK(result.answer == cudaSuccess);
        CHECK(other.answer == cudaErrorLaunchTimeout);
    }

    TEST_CASE("code that is built without exceptions awaits in the same way") {
        fake_stream idle;
        CHECK(await_without_exceptions(idle.handle()) == cudaSuccess);
    }
}
