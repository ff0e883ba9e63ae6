// SPDX-License-Identifier: Apache-2.0

// Fibers and Asio's tracking: handlers that run on a fiber, and fibers that run in a handler.

#include <coroscope/integration/boost_context.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace net = boost::asio;

namespace {

void nap() { spin(std::chrono::microseconds(200)); }

analysis::task_info task_of(const recorded& found, const char* event) {
    const std::uint32_t task = found.event(event).task;
    REQUIRE(task != analysis::none);
    return found.trace.tasks[task];
}

net::awaitable<void> resumes_a_fiber(fiber& work) {
    COROSCOPE("coroutine");
    co_await net::post(net::use_awaitable);
    work.resume();
    COROSCOPE("behind the fiber");
    co_await net::post(net::use_awaitable);
}

}  // namespace

TEST_SUITE("fiber_asio") {
    TEST_CASE("a handler that blocks its fiber is suspended, and other work of the thread "
              "meanwhile is not the handler's") {
        recording session;
        net::io_context on_fiber, outside;
        fiber work([&on_fiber](fiber::handle& self) {
            net::post(on_fiber, [&self] {
                COROSCOPE("handler");
                self.suspend();
                nap();
            });
            on_fiber.run();
            COROSCOPE("fiber");
        });
        work.resume();
        net::post(outside, [] {
            COROSCOPE("outside");
            nap();
        });
        outside.run();
        work.resume();
        CHECK(work.done());
        const recorded found = session.stop();
        const auto& handler = task_of(found, "handler");
        CHECK(handler.asio);
        CHECK(handler.parent == found.event("fiber").task);
        CHECK(handler.slices.size() == 2);
        CHECK(handler.time.suspended_ns >= nearly(200'000));
        CHECK(found.split(found.event("handler")).suspended_ns == handler.time.suspended_ns);
        CHECK(task_of(found, "outside").parent == analysis::none);
        for (const auto& task : found.trace.tasks) {
            CHECK(task.state == analysis::task_state::finished);
            CHECK_FALSE(task.losses);
            check_sum(task, found.trace.duration_ns);
        }
    }

    TEST_CASE("work that a fiber starts inside a coroutine's handler belongs to the fiber, and is "
              "no await of the coroutine") {
        recording session;
        net::io_context context;
        fiber work([&context] {
            COROSCOPE("fiber");
            net::post(context, [] { COROSCOPE("posted by the fiber"); });
        });
        net::co_spawn(context, resumes_a_fiber(work), net::detached);
        context.run();
        const recorded found = session.stop();
        CHECK(task_of(found, "fiber").fiber);
        CHECK(task_of(found, "posted by the fiber").parent == found.event("fiber").task);
        const auto& coroutine = task_of(found, "coroutine");
        REQUIRE(coroutine.awaits.size() == 3);
        std::size_t interruptions = 0;
        for (const analysis::await_info& each : found.awaits(coroutine))
            interruptions += each.handed_over && each.site == analysis::none ? 1U : 0U;
        CHECK(interruptions == 1);
        CHECK(found.event("behind the fiber").task == found.event("coroutine").task);
        for (const auto& task : found.trace.tasks) CHECK_FALSE(task.losses);
    }
}
