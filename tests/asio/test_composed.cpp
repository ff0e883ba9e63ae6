// SPDX-License-Identifier: Apache-2.0

// Operations of several steps, and the coroutines that they spawn.

#include <array>
#include <exception>
#include <memory>
#include <utility>

#include "asio_library.hpp"
#include "napping.hpp"
#include "recording.hpp"

namespace {

/// A composed operation: receives a datagram, runs a coroutine afterwards, and waits for a timer if
/// the test asks for it.
class handshake {
public:
    handshake(net::ip::udp::socket& socket, net::steady_timer* rest)
        : socket_(&socket), rest_(rest) {}

    template <class Self>
    void operator()(Self& self) {
        net::ip::udp::socket& socket = *socket_;
        socket.async_receive(net::buffer(*data_), std::move(self));
    }
    template <class Self>
    void operator()(Self& self, net_error::error_code, std::size_t) {
        const auto executor = socket_->get_executor();
        net::co_spawn(executor, napping_child(), std::move(self));
    }
    template <class Self>
    void operator()(Self& self, const std::exception_ptr&) {
        if (rest_ == nullptr) return self.complete();
        net::steady_timer& rest = *rest_;
        rest.expires_after(1ms);
        rest.async_wait(std::move(self));
    }
    template <class Self>
    void operator()(Self& self, net_error::error_code) {
        self.complete();
    }

private:
    net::ip::udp::socket* socket_;
    net::steady_timer* rest_;
    std::shared_ptr<std::array<char, 1>> data_ = std::make_shared<std::array<char, 1>>();
};

net::awaitable<void> shakes_hands(bool rests_then) {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    net::ip::udp::socket socket(executor, {net::ip::address_v4::loopback(), 0});
    socket.connect(socket.local_endpoint());
    socket.send(net::buffer("a", 1));
    net::steady_timer rest(executor);
    auto done = net::async_compose<const net::use_awaitable_t<>, void()>(
        handshake(socket, rests_then ? &rest : nullptr), net::use_awaitable, socket);
    co_await std::move(done);
}

analysis::trace record_handshake(bool rests_then) {
    auto loaded = record([rests_then] {
        net::io_context io;
        net::co_spawn(io, shakes_hands(rests_then), net::detached);
        io.run();
    });
    check_all_add_up(loaded);
    return loaded;
}

analysis::await_info only_await(const analysis::trace& loaded, const analysis::task_info& task) {
    REQUIRE(task.awaits.size() == 1);
    return loaded.awaits[task.awaits.front()];
}

}  // namespace

TEST_CASE("a co_spawn that is a later step of an awaited operation is a child of the awaiting "
          "coroutine, and wakes it") {
    const auto loaded = record_handshake(false);
    CHECK(loaded.tasks.size() == 2);
    const analysis::task_info& parent = task_named(loaded, "shakes_hands");
    const analysis::task_info& child = task_named(loaded, "napping_child");
    REQUIRE(child.parent != analysis::none);
    CHECK(loaded.tasks[child.parent].id == parent.id);
    REQUIRE(child.awaiter != analysis::none);
    CHECK(loaded.tasks[child.awaiter].id == parent.id);
    const analysis::await_info& await = only_await(loaded, parent);
    CHECK(loaded.sites[await.site].label == "socket.async_receive");
    CHECK(await.wake_ns == child.end_ns);
    REQUIRE(await.waker != analysis::none);
    CHECK(loaded.tasks[await.waker].id == child.id);
    CHECK(parent.time.waiting_ns == 0);
}

namespace {

// An operation that first starts a helper, whose result it does not need, and then its own work.
net::awaitable<void> starts_a_helper() {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor, 1ms);
    const auto start = [&timer](auto handler) {
        net::co_spawn(timer.get_executor(), napping_child(), net::detached);
        timer.async_wait(std::move(handler));
    };
    co_await net::async_initiate<const net::use_awaitable_t<>, void(net_error::error_code)>(
        start, net::use_awaitable);
}

}  // namespace

TEST_CASE("a detached co_spawn in an awaited operation is a child of the awaiting coroutine, which "
          "does not await it") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, starts_a_helper(), net::detached);
        io.run();
    });
    const analysis::task_info& parent = task_named(loaded, "starts_a_helper");
    const analysis::task_info& helper = task_named(loaded, "napping_child");
    REQUIRE(helper.parent != analysis::none);
    CHECK(loaded.tasks[helper.parent].id == parent.id);
    CHECK(helper.awaiter == analysis::none);
    const analysis::await_info& await = only_await(loaded, parent);
    CHECK(await.awaited == analysis::none);
    CHECK(loaded.sites[await.site].label == "co_await");
    CHECK(loaded.sites[await.site].line > 0);
    CHECK(await.reason == analysis::wake_reason::timer);
    check_all_add_up(loaded);
}

TEST_CASE(
    "a coroutine's first wake is not before its spawn, although its spawner was woken earlier") {
    const auto loaded = record_handshake(false);
    const analysis::task_info& child = task_named(loaded, "napping_child");
    REQUIRE(child.spawn_ns);
    REQUIRE(child.first_wake_ns);
    CHECK(*child.first_wake_ns >= *child.spawn_ns);
}

TEST_CASE("an operation that waits after its co_spawn has ended was not ready since that end") {
    const auto loaded = record_handshake(true);
    CHECK(loaded.tasks.size() == 2);
    CHECK_FALSE(only_await(loaded, task_named(loaded, "shakes_hands")).wake_ns);
}
