// SPDX-License-Identifier: Apache-2.0

// Asio's coroutines that await operations, and each other.

#include <chrono>
#include <stdexcept>
#include <string>

#include "asio_library.hpp"
#include "napping.hpp"
#include "recording.hpp"

namespace {

net::awaitable<void> parent_that_goes_on() {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    co_await net::co_spawn(executor, napping_child(), net::use_awaitable);
    {
        COROSCOPE("after the child");
        busy(5ms);
    }
    co_await nap(1ms);
}

net::awaitable<void> thrower() {
    COROSCOPE_FUNCTION();
    co_await nap(1ms);
    throw std::runtime_error("thrown");
}

net::awaitable<void> catcher(bool& caught) {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    try {
        co_await net::co_spawn(executor, thrower(), net::use_awaitable);
    } catch (const std::runtime_error&) {
        COROSCOPE("caught");
        caught = true;
    }
}

}  // namespace

TEST_CASE("a spawned operation without a coroutine around it is awaited, resumed and finished") {
    std::int64_t left_ns = 0;
    const auto loaded = record([&left_ns] {
        net::io_context io;
        net::steady_timer timer(io, 50ms);
        net::co_spawn(io, timer.async_wait(net::use_awaitable), net::detached);
        io.poll();  // the coroutine waits after this call
        left_ns = ns_until(timer);
        io.run();
    });
    REQUIRE(loaded.tasks.size() == 1);
    const analysis::task_info& task = loaded.tasks.front();
    CHECK(task.state == analysis::task_state::finished);
    CHECK_FALSE(task.losses);
    CHECK(task.time.suspended_ns >= nearly(left_ns));
    REQUIRE(task.awaits.size() >= 1);
    for (const std::uint32_t each : task.awaits) CHECK(loaded.awaits[each].resume_ns.has_value());
    check_all_add_up(loaded);
}

TEST_CASE("a child ends before its awaiter goes on, although the awaiter goes on inline") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, parent_that_goes_on(), net::detached);
        io.run();
    });
    const analysis::task_info& parent = task_named(loaded, "parent_that_goes_on");
    const analysis::task_info& child = task_named(loaded, "napping_child");
    const analysis::event& after = scope_named(loaded, "after the child");
    CHECK(owner_of(loaded, "after the child").id == parent.id);
    CHECK(loaded.tasks[child.awaiter].id == parent.id);
    REQUIRE(child.end_ns);
    CHECK(*child.end_ns <= after.start_ns);
    CHECK(child.time.running_ns >= nearly(3 * ms));
    CHECK(parent.time.suspended_ns >= nearly(3 * ms));
    CHECK(parent.time.running_ns >= nearly(5 * ms));
    REQUIRE(parent.awaits.size() == 2);
    const analysis::await_info& joined = loaded.awaits[parent.awaits.front()];
    CHECK(loaded.tasks[joined.awaited].id == child.id);
    REQUIRE(joined.waker != analysis::none);
    CHECK(loaded.tasks[joined.waker].id == child.id);
    check_all_add_up(loaded);
}

TEST_CASE(
    "an exception that leaves a coroutine makes its task failed, and goes on in the awaiter") {
    bool caught = false;
    const auto loaded = record([&caught] {
        net::io_context io;
        net::co_spawn(io, catcher(caught), net::detached);
        io.run();
    });
    CHECK(caught);
    CHECK(task_named(loaded, "thrower").state == analysis::task_state::failed);
    CHECK(task_named(loaded, "catcher").state == analysis::task_state::finished);
    CHECK(owner_of(loaded, "caught").id == task_named(loaded, "catcher").id);
    check_all_add_up(loaded);
}

TEST_CASE("an await names its operation, and its function and line") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, napping_child(), net::detached);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "napping_child");
    REQUIRE(task.awaits.size() == 1);
    const analysis::site_info& site = loaded.sites[loaded.awaits[task.awaits.front()].site];
    CHECK(site.label == "deadline_timer.async_wait");
    CHECK(site.function.find("nap") != std::string::npos);
    CHECK(site.file.ends_with("napping.hpp"));
    CHECK(site.line > 0);
}

#if defined(COROSCOPE_TEST_ASIO_HAS_DEFERRED)

namespace {

net::awaitable<void> awaits_deferred() {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor, 3ms);
    co_await timer.async_wait(net::deferred);
    COROSCOPE("after deferred");
}

}  // namespace

TEST_CASE("a deferred operation is awaited like any other operation") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, awaits_deferred(), net::detached);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "awaits_deferred");
    CHECK(owner_of(loaded, "after deferred").id == task.id);
    REQUIRE(task.awaits.size() >= 1);
    const analysis::await_info& last = loaded.awaits[task.awaits.back()];
    CHECK(loaded.sites[last.site].label == "deadline_timer.async_wait");
    CHECK(last.reason == analysis::wake_reason::timer);
    check_all_add_up(loaded);
}

#endif

TEST_CASE(
    "a session that starts during a wait records coroutines and handlers from their next step on") {
    net::io_context io;
    net::co_spawn(io, parent_that_goes_on(), net::detached);
    net::steady_timer timer(io, 5ms);
    timer.async_wait([](net_error::error_code) { COROSCOPE("rang"); });
    while (io.poll_one() != 0) {
    }
    const auto loaded = record([&io] { io.run(); });
    const analysis::task_info& parent = owner_of(loaded, "after the child");
    CHECK(parent.older_than_session);
    CHECK(parent.state == analysis::task_state::finished);
    CHECK(owner_of(loaded, "rang").older_than_session);
    check_all_add_up(loaded);
}
