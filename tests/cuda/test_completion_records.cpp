// SPDX-License-Identifier: Apache-2.0

// Awaits of streams in a trace: their time, and the wake of the coroutine.

#include <coroscope/integration/cuda_completion.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"
#include "awaiting.hpp"
#include "disabled.hpp"
#include "fake_cudart.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

/// Returns whether the trace shows jobs. The jobs that resume a coroutine must not be in it. An
/// older task may be in it if the waking thread still has its context.
bool shows_jobs(const recorded& found) {
    return std::ranges::any_of(found.trace.tasks, &analysis::task_info::job);
}

void check_known_wake(const recorded& found, const char* function) {
    const analysis::task_info& task = found.task(function);
    const auto awaits = found.awaits(task);
    REQUIRE(awaits.size() == 1);
    CHECK(found.site_label(awaits[0].site) == "upload");
    REQUIRE(awaits[0].wake_ns);
    CHECK(*awaits[0].wake_ns - awaits[0].suspend_ns >= nearly(5'000'000));
    CHECK(task.time.waiting_ns == 0);
    CHECK(task.state == analysis::task_state::finished);
    CHECK_FALSE(shows_jobs(found));
}

}  // namespace

TEST_SUITE("completion") {
    TEST_CASE("a task is suspended until the callback, and queued afterwards until it runs") {
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
        CHECK(task.time.suspended_ns >= nearly(5'000'000));
        CHECK(task.time.queued_ns >= nearly(10'000'000));
        CHECK(task.time.waiting_ns == 0);
        CHECK(task.state == analysis::task_state::finished);
        CHECK_FALSE(shows_jobs(found));
    }

    TEST_CASE("the wake is known through an executor that records the post, too") {
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

    TEST_CASE("a session of one thread follows the coroutine to its executor") {
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

    TEST_CASE(
        "code that is built without the profiler awaits in the same way, and leaves no record") {
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
}
