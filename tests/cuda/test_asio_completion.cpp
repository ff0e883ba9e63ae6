// SPDX-License-Identifier: Apache-2.0

// Awaiting streams and events in Asio, with and without tracking, against a fake CUDA runtime.

#include <coroscope/integration/cuda_asio.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include <boost/asio.hpp>
#include <coroscope/detail/device_recorder.hpp>

#include "../asio/recording.hpp"
#include "fake_cudart.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;
namespace net = boost::asio;

namespace {

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
constexpr bool is_tracked = true;
#define COROSCOPE_AWAIT_DEVICE(operation) COROSCOPE_AWAIT("device", operation)
#else
constexpr bool is_tracked = false;
#define COROSCOPE_AWAIT_DEVICE(operation) operation
#endif

template <class Work>
net::awaitable<void> waits_in_asio(Work work, int& answer) {
    COROSCOPE_FUNCTION();
    answer = static_cast<int>(
        co_await COROSCOPE_AWAIT_DEVICE(cuda::async_completion(work, net::use_awaitable)));
}

net::awaitable<void> awaits_timer_first(cudaStream_t stream) {
    auto operation = cuda::async_completion(stream, net::use_awaitable);
    net::steady_timer timer(co_await net::this_coro::executor, 2ms);
    co_await timer.async_wait(net::use_awaitable);
    co_await COROSCOPE_AWAIT_DEVICE(std::move(operation));
}

net::awaitable<void> hands_on(net::io_context& io, cudaStream_t stream) {
    net::co_spawn(io, cuda::async_completion(stream, net::use_awaitable), net::detached);
    net::steady_timer timer(io, 2ms);
    co_await timer.async_wait(net::use_awaitable);
}

/// Acts as the device as soon as a coroutine waits for the stream.
std::thread complete_late(fake_stream& stream) {
    return std::thread([&stream] {
        while (stream.enqueued() < 2) std::this_thread::yield();
        std::this_thread::sleep_for(5ms);
        stream.complete();
    });
}

// Reports each event as recorded, by a call that is in no trace.
const coroscope::detail::device_recorder recorder{
    "cuda",
    [](std::uint64_t, coroscope::detail::device_message&) noexcept { return true; },
    [](bool) noexcept {},
    []() noexcept {},
    [](std::uint64_t) noexcept {},
    [](void*, bool) noexcept { return coroscope::detail::device_stream{5, 40}; },
    [](const void*) noexcept { return coroscope::detail::device_event{5, 40, 7}; },
};

/// The trace of a program that awaits a stream, with devices.
template <class Program>
analysis::trace record_with_devices(const Program& program) {
    coroscope::detail::register_device_recorder(recorder);
    fake_stream stream;
    stream.work();
    profile session({.all_threads = true, .use_device = "cuda"});
    net::io_context io;
    net::co_spawn(io, program(io, stream.handle()), net::detached);
    std::thread device = complete_late(stream);
    io.run();
    device.join();
    auto loaded = analysis::load(session.stop());
    REQUIRE(loaded);
    return std::move(*loaded);
}

}  // namespace

TEST_SUITE("completion in Asio") {
    TEST_CASE("a coroutine awaits a stream, run() waits for it, and its wake is known") {
        fake_stream stream;
        stream.work();
        int answer = -1;
        const auto loaded = record([&] {
            net::io_context io;
            net::co_spawn(io, waits_in_asio(stream.handle(), answer), net::detached);
            std::thread device = complete_late(stream);
            io.run();
            device.join();
        });
        CHECK(answer == cudaSuccess);
        CHECK(fake_cuda_counts().calls_in_callbacks == 0);
        if (!is_tracked) return;
        const analysis::task_info& task = task_named(loaded, "waits_in_asio");
        CHECK(task.state == analysis::task_state::finished);
        REQUIRE(task.awaits.size() == 1);
        const analysis::await_info& await = loaded.awaits[*task.awaits.begin()];
        CHECK(loaded.sites[await.site].label == "device");
        CHECK(await.wake_ns.has_value());
        CHECK(task.time.suspended_ns > 0);
        CHECK(task.time.waiting_ns == 0);
        CHECK(loaded.tasks.size() == 1);
        check_all_add_up(loaded);
    }

    TEST_CASE("the answer of an idle or failed stream comes through the executor, too") {
        fake_stream stream;
        int idle = -1, failed = -1;
        net::io_context io;
        net::co_spawn(io, waits_in_asio(stream.handle(), idle), net::detached);
        io.run();
        stream.work();
        stream.fail(cudaErrorLaunchFailure);
        io.restart();
        net::co_spawn(io, waits_in_asio(stream.handle(), failed), net::detached);
        io.run();
        CHECK(idle == cudaSuccess);
        CHECK(failed == cudaErrorLaunchFailure);
    }

    TEST_CASE(
        "events can be awaited, callbacks run on their executor, and futures get the answer") {
        fake_stream stream;
        stream.work();
        fake_event event;
        event.record(stream);
        net::io_context io;
        int of_event = -1, of_callback = -1;
        std::thread::id on;
        net::co_spawn(io, waits_in_asio(event.handle(), of_event), net::detached);
        cuda::async_completion(stream.handle(), net::bind_executor(io, [&](cudaError_t answer) {
                                   of_callback = static_cast<int>(answer);
                                   on = std::this_thread::get_id();
                               }));
        auto promised = cuda::async_completion(stream.handle(), net::use_future);
        std::thread device = complete_late(stream);
        io.run();
        device.join();
        CHECK(of_event == cudaSuccess);
        CHECK(of_callback == cudaSuccess);
        CHECK(on == std::this_thread::get_id());
        CHECK(promised.get() == cudaSuccess);
    }

    TEST_CASE("a task's await of a stream or an event names its kind and stream") {
        coroscope::detail::register_device_recorder(recorder);
        fake_stream stream;
        stream.work();
        fake_event event;
        event.record(stream);
        int of_event = -1, of_stream = -1;
        profile session({.all_threads = true, .use_device = "cuda"});
        net::io_context io;
        net::co_spawn(io, waits_in_asio(event.handle(), of_event), net::detached);
        net::co_spawn(io, waits_in_asio(stream.handle(), of_stream), net::detached);
        std::thread device = complete_late(stream);
        io.run();
        device.join();
        auto loaded = analysis::load(session.stop());
        REQUIRE(loaded);
        CHECK(of_event == cudaSuccess);
        REQUIRE(loaded->device_waits.size() == (is_tracked ? 2 : 0));
        int events = 0;
        for (const analysis::device_wait& wait : loaded->device_waits) {
            events += wait.is_event ? 1 : 0;
            CHECK(wait.stream == (wait.is_event ? analysis::none : 40));
            CHECK(wait.await != analysis::none);
        }
        CHECK(events == (is_tracked ? 1 : 0));
    }

    TEST_CASE("an operation that is made first and awaited later explains only that await") {
        const analysis::trace loaded = record_with_devices(
            [](net::io_context&, cudaStream_t stream) { return awaits_timer_first(stream); });
        REQUIRE(loaded.device_waits.size() == (is_tracked ? 1 : 0));
        for (const analysis::device_wait& wait : loaded.device_waits) {
            REQUIRE(wait.await != analysis::none);
            CHECK(loaded.sites[loaded.awaits[wait.await].site].label == "device");
        }
    }

    TEST_CASE("an operation that a task spawns explains an await of the spawned task") {
        const analysis::trace loaded = record_with_devices(
            [](net::io_context& io, cudaStream_t stream) { return hands_on(io, stream); });
        REQUIRE(loaded.device_waits.size() == (is_tracked ? 1 : 0));
        for (const analysis::device_wait& wait : loaded.device_waits) {
            REQUIRE(wait.await != analysis::none);
            const analysis::task_info& task = loaded.tasks[loaded.awaits[wait.await].task];
            CHECK(task.parent != analysis::none);
        }
    }

    TEST_CASE("an execution context may be destroyed before the stream is done, and the stream is "
              "queried no more") {
        fake_stream stream;
        stream.work();
        fake_event event;
        event.record(stream);
        int answer = -1;
        {
            net::io_context io;
            net::co_spawn(io, waits_in_asio(stream.handle(), answer), net::detached);
            net::co_spawn(io, waits_in_asio(event.handle(), answer), net::detached);
            io.poll();
            CHECK(stream.enqueued() == 2);
        }
        const int before = fake_cuda_counts().queries;
        std::this_thread::sleep_for(5ms);
        CHECK(fake_cuda_counts().queries == before);
        stream.complete();
        CHECK(answer == -1);
    }

    TEST_CASE("a context may be destroyed while the device completes") {
        for (int round = 0; round < 200; ++round) {
            fake_stream stream;
            stream.work();
            int answer = -1;
            auto io = std::make_unique<net::io_context>();
            net::co_spawn(*io, waits_in_asio(stream.handle(), answer), net::detached);
            io->poll();
            std::thread device([&stream] { stream.complete(); });
            io.reset();
            device.join();
        }
    }
}
