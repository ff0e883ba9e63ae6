// SPDX-License-Identifier: Apache-2.0

// Asio's tasks in the table of live tasks, and their failures, without a session.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/anomaly.hpp>
#include <coroscope/async_stack.hpp>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

class tracking {
public:
    tracking() { REQUIRE(coroscope::track_live_tasks(true)); }
    ~tracking() { coroscope::track_live_tasks(false); }
    tracking(const tracking&) = delete;
    tracking& operator=(const tracking&) = delete;
};

struct seen_failure {
    std::string what;
    coroscope::async_stack stack;
};
void note(const coroscope::anomaly& found, void* data) {
    static_cast<std::vector<seen_failure>*>(data)->push_back({found.what, *found.stack});
}

net::awaitable<void> short_pause() {
    net::steady_timer timer(co_await net::this_coro::executor, 1ms);
    co_await timer.async_wait(net::use_awaitable);
}

net::awaitable<void> child(coroscope::async_stack& before, coroscope::async_stack& after) {
    before = coroscope::current_async_stack();
    co_await short_pause();
    after = coroscope::current_async_stack();
}

net::awaitable<void> parent(coroscope::async_stack& before, coroscope::async_stack& after) {
    const auto executor = co_await net::this_coro::executor;
    co_await net::co_spawn(executor, child(before, after), net::use_awaitable);
}

net::awaitable<void> deep_thrower() {
    co_await short_pause();
    throw std::runtime_error("thrown");
}
net::awaitable<void> throws_below() { co_await deep_thrower(); }

net::awaitable<void> catcher() {
    const auto executor = co_await net::this_coro::executor;
    try {
        co_await net::co_spawn(executor, throws_below(), net::use_awaitable);
    } catch (const std::runtime_error&) {
        // The exception ends here.
    }
}

}  // namespace

TEST_CASE("a co_spawn's stack leads to its awaiter, before and after a wait") {
    const tracking on;
    coroscope::async_stack before;
    coroscope::async_stack after;
    {
        net::io_context io;
        net::co_spawn(io, parent(before, after), net::detached);
        CHECK(coroscope::live_tasks().tasks >= 1);
        io.run();
    }
    REQUIRE(before.size() == 2);
    REQUIRE(after.size() == 2);
    CHECK(before[0].task == after[0].task);
    CHECK(after[0].state == coroscope::async_state::running);
    CHECK(std::string_view(after[0].await.label).find("wait") != std::string_view::npos);
    CHECK(after[1].state == coroscope::async_state::suspended);
    CHECK(after[1].awaits == after[0].task);
    CHECK(coroscope::live_tasks().tasks == 0);
}

TEST_CASE("a handler is a task below the handler that started its operation") {
    const tracking on;
    coroscope::async_stack inner;
    net::io_context io;
    net::post(io, [&] { net::post(io, [&] { inner = coroscope::current_async_stack(); }); });
    io.run();
    REQUIRE(inner.size() == 2);
    CHECK(inner[1].state == coroscope::async_state::unknown);  // the outer handler has ended
    CHECK(coroscope::live_tasks().tasks == 0);
}

TEST_CASE("discarded operations leave no task behind") {
    const tracking on;
    coroscope::async_stack before;
    coroscope::async_stack after;
    {
        net::io_context io;
        net::post(io, [] {});
        net::co_spawn(io, parent(before, after), net::detached);
        CHECK(coroscope::live_tasks().tasks >= 2);
        io.run_one();
    }
    CHECK(coroscope::live_tasks().tasks == 0);
}

TEST_CASE("an exception that leaves a co_spawn is reported once, with its awaiter") {
    std::vector<seen_failure> found;
    const coroscope::anomaly_detection detection(&note, &found);
    net::io_context io;
    net::co_spawn(io, catcher(), net::detached);
    io.run();
    REQUIRE(found.size() == 1);
    CHECK(found[0].what == "thrown");
    CHECK(found[0].stack.size() == 2);
}

TEST_CASE("an exception that leaves a handler is reported, without its type") {
    std::vector<seen_failure> found;
    const coroscope::anomaly_detection detection(&note, &found);
    net::io_context io;
    net::post(io, [] { throw std::runtime_error("thrown"); });
    CHECK_THROWS(io.run());
    REQUIRE(found.size() == 1);
    CHECK(found[0].what.empty());
    CHECK(found[0].stack.size() == 1);
}
