// SPDX-License-Identifier: Apache-2.0

// The end and the name of a co_spawn, with the different awaits of Asio's entry point.

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>

#include <coroscope/analysis/views.hpp>

#include "asio_library.hpp"
#include "recorded_coroutine.hpp"
#include "recording.hpp"

namespace states {
namespace {

net::awaitable<void> waits() {
    net::steady_timer timer(co_await net::this_coro::executor, 5ms);
    co_await timer.async_wait(net::use_awaitable);
}

net::awaitable<void> spawns_and_awaits() {
    co_await net::co_spawn(co_await net::this_coro::executor, waits(), net::use_awaitable);
}

net::awaitable<void> spawns_detached() {
    net::co_spawn(co_await net::this_coro::executor, waits(), net::detached);
    co_await waits();
}

net::awaitable<int> returns_a_value() {
    co_await waits();
    co_return 7;
}

net::awaitable<void> throws_in_child(bool& caught) {
    try {
        co_await net::co_spawn(
            co_await net::this_coro::executor,
            []() -> net::awaitable<int> {
                co_await waits();
                throw 1;
            },
            net::use_awaitable);
    } catch (int) {
        caught = true;
    }
}

}  // namespace
}  // namespace states

namespace {

using namespace states;

analysis::task_info task_of(const analysis::trace& loaded, std::string_view function) {
    const auto found = std::find_if(
        loaded.tasks.begin(), loaded.tasks.end(), [&](const analysis::task_info& task) {
            const std::string label(spawn_label(loaded, task));  // "…::operator&&<void, void>"
            return std::string_view(label)
                .substr(0, label.find('<'))
                .ends_with("::" + std::string(function));
        });
    REQUIRE_MESSAGE(found != loaded.tasks.end(), "no task of ", function);
    return *found;
}

const analysis::site_info& spawn_site(const analysis::trace& loaded,
                                      const analysis::task_info& task) {
    REQUIRE(task.spawn_site != analysis::none);
    return loaded.sites[task.spawn_site];
}

}  // namespace

TEST_CASE("a co_spawn that ends is finished, and its awaiter is suspended until then") {
    const auto loaded = record_coroutine(spawns_and_awaits);
    REQUIRE(loaded.tasks.size() == 2);
    const analysis::task_info& awaiter = task_of(loaded, "spawns_and_awaits");
    const analysis::task_info& child = task_of(loaded, "waits");
    CHECK(awaiter.state == analysis::task_state::finished);
    CHECK(child.state == analysis::task_state::finished);
    REQUIRE(awaiter.awaits.size() == 1);
    const analysis::await_info& awaited = loaded.awaits[awaiter.awaits.front()];
    CHECK(loaded.tasks[awaited.awaited].id == child.id);
    CHECK(awaited.wake_ns == child.end_ns);
    CHECK(awaiter.time.waiting_ns == 0);
    CHECK(awaiter.time.suspended_ns > 0);
}

TEST_CASE("a trace has the version of the tracked Asio, and the state of the tracking") {
    const auto loaded = record_coroutine(waits);
    CHECK(loaded.health.asio == coroscope::trace::asio_tracking::in_order);
    CHECK(loaded.health.asio_version + loaded.health.boost_asio_version >= 101800);
    CHECK(analysis::info_text(loaded).find("Asio 1.") != std::string::npos);
}

TEST_CASE("a trace has the version of the Asio that the program uses, if the build tracks both") {
    const auto loaded = record_coroutine(waits);
#if defined(COROSCOPE_TEST_STANDALONE_ASIO)
    CHECK(loaded.health.asio_version == ASIO_VERSION);
    CHECK(loaded.health.boost_asio_version == 0);
#else
    CHECK(loaded.health.asio_version == 0);
    CHECK(loaded.health.boost_asio_version == BOOST_ASIO_VERSION);
#endif
}

TEST_CASE("a co_spawn with a value ends like one without") {
    int got = 0;
    const auto loaded = record([&got] {
        net::io_context io;
        net::co_spawn(io, returns_a_value(),
                      [&got](std::exception_ptr, int value) { got = value; });
        io.run();
    });
    CHECK(got == 7);
    CHECK(task_of(loaded, "returns_a_value").state == analysis::task_state::finished);
}

TEST_CASE("a co_spawn whose function throws has failed") {
    bool caught = false;
    const auto loaded = record_coroutine([&caught] { return throws_in_child(caught); });
    CHECK(caught);
    CHECK(task_of(loaded, "throws_in_child").state == analysis::task_state::finished);
    REQUIRE(loaded.tasks.size() == 2);
    const bool first = loaded.tasks[0].id == task_of(loaded, "throws_in_child").id;
    CHECK(loaded.tasks[first ? 1 : 0].state == analysis::task_state::failed);
}

TEST_CASE("a co_spawn without a scope is named after its function, with its file and line") {
    const auto loaded = record_coroutine(spawns_detached);
    REQUIRE(loaded.tasks.size() == 2);
    for (const char* name : {"spawns_detached", "waits"}) {
        const analysis::site_info& site = spawn_site(loaded, task_of(loaded, name));
        CHECK(site.file.ends_with("test_states.cpp"));
        CHECK(site.line > 0);
    }
}

TEST_CASE("an awaited co_spawn has the line that awaits it") {
    const auto loaded = record_coroutine(spawns_and_awaits);
    const analysis::site_info& child = spawn_site(loaded, task_of(loaded, "waits"));
    const analysis::site_info& parent = spawn_site(loaded, task_of(loaded, "spawns_and_awaits"));
    CHECK(child.file.ends_with("test_states.cpp"));
    CHECK(child.line == parent.line);  // the line of the only co_await expression
}

#if defined(COROSCOPE_TEST_ASIO_HAS_GROUPS)

namespace states {
namespace {

net::awaitable<int> also_waits() {
    co_await waits();
    co_return 1;
}

net::awaitable<void> awaits_both() {
    using namespace net::experimental::awaitable_operators;
    co_await (waits() && also_waits());
}

}  // namespace
}  // namespace states

TEST_CASE("the operands of an awaited && are named after their functions") {
    const auto loaded = record_coroutine(awaits_both);
    REQUIRE(loaded.tasks.size() == 3);
    const analysis::task_info& awaiter = task_of(loaded, "awaits_both");
    CHECK(awaiter.state == analysis::task_state::finished);
    for (const char* name : {"waits", "also_waits"}) {
        const analysis::task_info& operand = task_of(loaded, name);
        CHECK(operand.state == analysis::task_state::finished);
        CHECK(loaded.tasks[operand.awaiter].id == awaiter.id);
        CHECK(spawn_site(loaded, operand).file.ends_with("test_states.cpp"));
#if defined(COROSCOPE_TEST_ASIO_HAS_DEFERRED)
        // The line that awaits them, not their own line. In earlier versions of Asio && overwrites
        // the line.
        CHECK(spawn_site(loaded, operand).line == spawn_site(loaded, awaiter).line);
#endif
    }
}

TEST_CASE("a spawned && is named after the operator") {
    using namespace net::experimental::awaitable_operators;
    const auto loaded = record_coroutine([] { return waits() && also_waits(); });
    REQUIRE(loaded.tasks.size() == 3);
    CHECK(task_of(loaded, "operator&&").state == analysis::task_state::finished);
    CHECK(task_of(loaded, "also_waits").awaiter != analysis::none);
}

#endif
