// SPDX-License-Identifier: Apache-2.0

// Awaiting streams and events, against a CUDA runtime of the tests' own.

#include <coroscope/integration/cuda_completion.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"
#include "awaiting.hpp"
#include "disabled.hpp"
#include "fake_cudart.hpp"
#include "no_exceptions.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

template <class... Executor>
task<outcome> awaited(cudaStream_t stream, Executor&... executor) {
    outcome result;
    result.put(co_await COROSCOPE_AWAIT("upload", cuda::completion(stream, executor...)));
    co_return result;
}

/// Counts what was posted to it: the waking thread may still post what a device's callback left to it, when the
/// callback has returned.
struct counting_executor {
    thread_executor pool{2};
    std::atomic<std::size_t> posted{0};
    void post(job next) {
        pool.post(std::move(next));
        ++posted;
    }
};

/// A thread that acts as the device when a coroutine waits for the stream.
template <class Act>
std::thread when_awaited(fake_stream& stream, Act act) {
    return std::thread([&stream, act] {
        while (stream.enqueued() < 2) std::this_thread::yield();  // work and a callback
        act(stream);
    });
}
void complete(fake_stream& stream) { stream.complete(); }
void complete_late(fake_stream& stream) {
    std::this_thread::sleep_for(5ms);
    stream.complete();
}

/// Keeps what it is given and never runs it.
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

/// An executor that takes nothing.
struct closed_executor {
    template <class Job>
    void execute(const Job&) {
        throw std::runtime_error("closed");
    }
};

/// Nothing of what handed a coroutine on shows. An older task may, in whose context the waking thread still is.
bool shows_jobs(const recorded& found) {
    return std::ranges::any_of(found.trace.tasks, &analysis::task_info::job);
}

void check_known_wake(const recorded& found, const char* function) {
    const analysis::task_info& task = found.task(function);
    const auto awaits = found.awaits(task);
    REQUIRE(awaits.size() == 1);
    CHECK(found.site_label(awaits[0].site) == "upload");
    REQUIRE(awaits[0].wake_ns);
    CHECK(*awaits[0].wake_ns - awaits[0].suspend_ns >= 5'000'000);
    CHECK(task.time.waiting_ns == 0);
    CHECK(task.state == analysis::task_state::finished);
    CHECK_FALSE(shows_jobs(found));
}

}  // namespace

TEST_SUITE("completion") {
    TEST_CASE("a stream that is idle, or has failed, does not suspend, and gives its answer") {
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

    TEST_CASE("a coroutine goes on on its executor when the stream comes to here, and not before") {
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

    TEST_CASE("work that comes after it is not waited for") {
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

    TEST_CASE("without an executor it goes on on a thread of the library's, and not on CUDA's") {
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

    TEST_CASE("that a stream is not ready is left behind in no thread's last error") {
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

    TEST_CASE("an error that comes while it waits is its answer, although no callback comes") {
        fake_stream stream;
        stream.work();
        std::thread device =
            when_awaited(stream, [](fake_stream& of) { of.fail(cudaErrorIllegalAddress); });
        CHECK(sync_wait(awaited(stream.handle())).answer == cudaErrorIllegalAddress);
        device.join();
    }

    TEST_CASE("a context that goes with everything enqueued does not leave it hanging") {
        fake_stream stream;
        stream.work();
        std::thread device = when_awaited(stream, [](fake_stream& of) { of.lose_everything(); });
        CHECK(sync_wait(awaited(stream.handle())).answer == cudaSuccess);
        device.join();
    }

    TEST_CASE("a stream that takes no callback gives its error at once") {
        fake_stream stream;
        stream.work();
        stream.refuse_callbacks(cudaErrorStreamCaptureUnsupported);
        manual_executor executor;
        outcome result;
        await_on(stream.handle(), executor, result).resume();
        CHECK(result.answer == cudaErrorStreamCaptureUnsupported);
    }

    TEST_CASE("a coroutine that is destroyed while it waits, or is queued, is forgotten") {
        fake_stream stream;
        outcome result;
        stream.work();
        {
            manual_executor gone;
            auto waiting = await_on(stream.handle(), gone, result);
            waiting.resume();
        }
        stream.complete();  // the executor is gone, too
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

    TEST_CASE("destroying and completing at once is safe, and leaves the executor alone after") {
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

    TEST_CASE("where the executor takes no more, it goes on on the library's thread") {
        fake_stream stream;
        stream.work();
        closed_executor closed;
        std::thread device = when_awaited(stream, complete);
        const outcome result = sync_wait(awaited(stream.handle(), closed));
        device.join();
        CHECK(result.answer == cudaSuccess);
        CHECK(result.on != std::this_thread::get_id());
    }

    TEST_CASE("the default streams are awaited by an event of its own, which does not stay") {
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

    TEST_CASE("an event is awaited alone, not all of its stream") {
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

    TEST_CASE("the task is suspended until the callback, and queued from there until it runs") {
        recording session;
        fake_stream stream;
        stream.work();
        manual_executor executor;
        outcome result;
        auto waiting = await_on(stream.handle(), executor, result);
        waiting.resume();
        std::this_thread::sleep_for(5ms);
        std::thread([&stream] { stream.complete(); }).join();
        std::this_thread::sleep_for(10ms);
        executor.run();
        const recorded found = session.stop();
        const analysis::task_info& task = found.task("await_on");
        const auto awaits = found.awaits(task);
        REQUIRE(awaits.size() == 1);
        REQUIRE(awaits[0].wake_ns);
        CHECK(*awaits[0].wake_ns > awaits[0].suspend_ns);
        CHECK(*awaits[0].wake_ns < *awaits[0].resume_ns);
        CHECK(task.time.suspended_ns >= 5'000'000);
        CHECK(task.time.queued_ns >= 10'000'000);
        CHECK(task.time.waiting_ns == 0);
        CHECK(task.state == analysis::task_state::finished);
        CHECK_FALSE(shows_jobs(found));
    }

    TEST_CASE("the wake is known through an executor that stamps, too") {
        recording session;
        fake_stream stream;
        stream.work();
        thread_executor threads;
        executor_adaptor stamping(threads);
        std::thread device = when_awaited(stream, complete_late);
        CHECK(sync_wait(awaited(stream.handle(), stamping)).answer == cudaSuccess);
        device.join();
        threads.join();
        check_known_wake(session.stop(), "awaited");
    }

    TEST_CASE("the wake is known on the library's thread, too") {
        recording session;
        fake_stream stream;
        stream.work();
        std::thread device = when_awaited(stream, complete_late);
        CHECK(sync_wait(awaited(stream.handle())).answer == cudaSuccess);
        device.join();
        check_known_wake(session.stop(), "awaited");
    }

    TEST_CASE("the session of one thread follows to where it goes on") {
        recording session{profile_options{}};
        fake_stream stream;
        stream.work();
        thread_executor pool;
        std::thread device = when_awaited(stream, complete_late);
        CHECK(sync_wait(awaited(stream.handle(), pool)).answer == cudaSuccess);
        device.join();
        pool.join();
        check_known_wake(session.stop(), "awaited");
    }

    TEST_CASE("code that is built without the profiler awaits alike, and leaves no record") {
        recording session;
        fake_stream stream;
        stream.work();
        thread_executor pool;
        std::atomic<bool> done{false};
        std::thread device([&] {
            while (stream.enqueued() < 2) std::this_thread::yield();
            while (!done) stream.complete();
        });
        CHECK(await_disabled(stream.handle(), pool) == 0);
        done = true;
        device.join();
        pool.join();
        const recorded found = session.stop();
        CHECK(found.trace.tasks.empty());
        CHECK(found.trace.events.empty());
    }

    TEST_CASE("code that is built without exceptions awaits alike") {
        fake_stream idle;
        CHECK(await_without_exceptions(idle.handle()) == cudaSuccess);
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
