// SPDX-License-Identifier: Apache-2.0

// How the awaits of Asio's coroutines ended, and the objects that they waited for.

#include <array>
#include <stdexcept>
#include <vector>

#include "recorded_coroutine.hpp"

namespace {

using coroscope::trace::await_outcome;
using coroscope::trace::object_kind;
using tcp = net::ip::tcp;

std::vector<analysis::await_info> awaits_of(const analysis::trace& loaded,
                                            const analysis::task_info& task) {
    std::vector<analysis::await_info> found;
    for (const std::uint32_t index : task.awaits) found.push_back(loaded.awaits[index]);
    return found;
}

/// The first await of that task whose place has this label.
analysis::await_info await_at(const analysis::trace& loaded, const std::string& task,
                              const std::string& label) {
    for (const std::uint32_t index : task_named(loaded, task).awaits) {
        const analysis::await_info& each = loaded.awaits[index];
        if (each.site != analysis::none &&
            loaded.sites[each.site].label.find(label) != std::string::npos)
            return each;
    }
    FAIL("no await at ", label);
    return loaded.awaits.front();
}

object_kind kind_of(const analysis::trace& loaded, const analysis::await_info& await) {
    REQUIRE(await.object != analysis::none);
    CHECK_FALSE(loaded.objects[await.object].undescribed);
    return loaded.objects[await.object].kind;
}

net::awaitable<void> cancelled_naps() {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    net::steady_timer timer(executor, 1h);
    net::steady_timer other(executor, 1ms);
    other.async_wait([&timer](net_error::error_code) { timer.cancel(); });
    try {
        co_await timer.async_wait(net::use_awaitable);
    } catch (const net_error::system_error&) {
    }
    timer.expires_after(1h);
    other.expires_after(1ms);
    other.async_wait([&timer](net_error::error_code) { timer.cancel(); });
    net_error::error_code code;
    co_await timer.async_wait(net::redirect_error(net::use_awaitable, code));
    timer.expires_after(1ms);
    co_await timer.async_wait(net::use_awaitable);
}

net::awaitable<void> refused_connection() {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    tcp::acceptor closed(executor, {net::ip::address_v4::loopback(), 0});
    const tcp::endpoint nobody = closed.local_endpoint();
    closed.close();
    tcp::socket socket(executor);
    try {
        co_await socket.async_connect(nobody, net::use_awaitable);
    } catch (const net_error::system_error&) {
    }
}

net::awaitable<void> answers(tcp::acceptor& acceptor) {
    tcp::socket peer = co_await acceptor.async_accept(net::use_awaitable);
    std::array<char, 4> text{};
    co_await net::async_read(peer, net::buffer(text), net::use_awaitable);
}

net::awaitable<void> reads_to_the_end() {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    tcp::acceptor acceptor(executor, {net::ip::address_v4::loopback(), 0});
    net::co_spawn(executor, answers(acceptor), net::detached);
    tcp::socket socket(executor);
    co_await socket.async_connect(acceptor.local_endpoint(), net::use_awaitable);
    co_await net::async_write(socket, net::buffer("1234", 4), net::use_awaitable);
    std::array<char, 64> text{};
    try {  // a composed operation: the error of its last step comes as an exception
        co_await net::async_read(socket, net::buffer(text), net::use_awaitable);
    } catch (const net_error::system_error&) {
    }
}

net::awaitable<int> throws_in_turn() {
    co_await net::post(co_await net::this_coro::executor, net::use_awaitable);
    throw std::runtime_error("in a co_spawn");
    co_return 1;
}

net::awaitable<void> awaits_spawned() {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    try {
        co_await net::co_spawn(executor, throws_in_turn(), net::use_awaitable);
    } catch (const std::runtime_error&) {
    }
    co_await net::post(executor, net::use_awaitable);
}

net::awaitable<void> sleeps_on() {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor, 1h);
    co_await timer.async_wait(net::use_awaitable);
}

}  // namespace

TEST_CASE("a cancelled wait is cancelled, whether its error is thrown or stored") {
    const analysis::trace loaded = record_coroutine(cancelled_naps);
    const auto awaits = awaits_of(loaded, task_named(loaded, "cancelled_naps"));
    REQUIRE(awaits.size() == 3);
    CHECK(awaits[0].outcome == await_outcome::cancelled);
    CHECK(awaits[1].outcome == await_outcome::cancelled);
    CHECK(awaits[2].outcome == await_outcome::value);
    CHECK(kind_of(loaded, awaits[0]) == object_kind::timer);
    CHECK(awaits[1].object == awaits[0].object);
}

TEST_CASE("an operation that fails has an error code for its outcome") {
    const analysis::trace loaded = record_coroutine(refused_connection);
    const auto& await = await_at(loaded, "refused_connection", "async_connect");
    CHECK(await.outcome == await_outcome::error);
    CHECK(kind_of(loaded, await) == object_kind::socket);
}

TEST_CASE("a composed operation has the outcome that its await shows, not that of a step") {
    const analysis::trace loaded = record_coroutine(reads_to_the_end);
    CHECK(await_at(loaded, "reads_to_the_end", "async_connect").outcome == await_outcome::value);
    CHECK(await_at(loaded, "reads_to_the_end", "async_send").outcome == await_outcome::value);
    const auto& read = await_at(loaded, "reads_to_the_end", "async_receive");
    CHECK(read.outcome == await_outcome::error);
    CHECK(kind_of(loaded, read) == object_kind::socket);
    CHECK(await_at(loaded, "reads_to_the_end", "async_send").object == read.object);
}

TEST_CASE("the exception of an awaited co_spawn is the outcome of its await") {
    const analysis::trace loaded = record_coroutine(awaits_spawned);
    const auto awaits = awaits_of(loaded, task_named(loaded, "awaits_spawned"));
    REQUIRE(awaits.size() == 2);
    CHECK(awaits[0].outcome == await_outcome::exception);
    CHECK(awaits[1].outcome == await_outcome::value);
    CHECK(awaits[1].object == analysis::none);
}

TEST_CASE("a coroutine that its context destroys has ended with the service") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, sleeps_on(), net::detached);
        io.poll();
    });
    const analysis::task_info& task = task_named(loaded, "sleeps_on");
    CHECK(task.state == analysis::task_state::ended_with_service);
    const auto awaits = awaits_of(loaded, task);
    REQUIRE(awaits.size() == 1);
    CHECK(awaits[0].outcome == await_outcome::cancelled);
}

#if defined(COROSCOPE_TEST_ASIO_HAS_GROUPS)
namespace {

net::awaitable<void> waits_for_either() {
    COROSCOPE_FUNCTION();
    using namespace net::experimental::awaitable_operators;
    const auto executor = co_await net::this_coro::executor;
    net::steady_timer soon(executor, 1ms);
    net::steady_timer late(executor, 1h);
    co_await (soon.async_wait(net::use_awaitable) || late.async_wait(net::use_awaitable));
}

}  // namespace

TEST_CASE("a group whose last step was cancelled is not said to be cancelled") {
    const analysis::trace loaded = record_coroutine(waits_for_either);
    for (const auto& each : awaits_of(loaded, task_named(loaded, "waits_for_either")))
        CHECK((each.outcome == await_outcome::value || each.outcome == await_outcome::unknown));
}
#endif
