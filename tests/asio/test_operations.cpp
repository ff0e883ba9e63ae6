// SPDX-License-Identifier: Apache-2.0

// What each of Asio's ways to wait becomes: coroutines that await each other, groups, callbacks,
// operations that are handed over or thrown away.

#include <array>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

using tcp = net::ip::tcp;

net::awaitable<void> nap(std::chrono::milliseconds length) {
    net::steady_timer timer(co_await net::this_coro::executor, length);
    co_await timer.async_wait(net::use_awaitable);
}

net::awaitable<void> napping_child() {
    COROSCOPE_FUNCTION();
    co_await nap(2ms);
    busy(3ms);
}

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

TEST_CASE("an operation that is spawned by itself is awaited, resumed and finished") {
    std::chrono::nanoseconds left{};
    const auto loaded = record([&left] {
        net::io_context io;
        net::steady_timer timer(io, 50ms);
        net::co_spawn(io, timer.async_wait(net::use_awaitable), net::detached);
        io.poll();  // it waits when this returns
        left = timer.expiry() - net::steady_timer::clock_type::now();
        io.run();
    });
    REQUIRE(loaded.tasks.size() == 1);
    const analysis::task_info& task = loaded.tasks.front();
    CHECK(task.state == analysis::task_state::finished);
    CHECK_FALSE(task.losses);
    CHECK(task.time.waiting_ns > 0);
    CHECK(task.time.waiting_ns >= left.count() - left.count() / 100);  // clocks differ
    REQUIRE(task.awaits.size() >= 1);
    for (const std::uint32_t each : task.awaits) CHECK(loaded.awaits[each].resume_ns.has_value());
    check_all_add_up(loaded);
}

TEST_CASE("a child that its awaiter follows inline ends where the awaiter goes on") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, parent_that_goes_on(), net::detached);
        io.run();
    });
    const analysis::task_info& parent = task_named(loaded, "parent_that_goes_on");
    const analysis::task_info& child = task_named(loaded, "napping_child");
    const analysis::event& after = scope_named(loaded, "after the child");
    CHECK(&owner_of(loaded, "after the child") == &parent);
    CHECK(&loaded.tasks[child.awaiter] == &parent);
    REQUIRE(child.end_ns);
    CHECK(*child.end_ns <= after.start_ns);
    CHECK(child.time.running_ns >= 3 * ms);
    CHECK(parent.time.suspended_ns >= 5 * ms);
    CHECK(parent.time.running_ns >= 5 * ms);
    REQUIRE(parent.awaits.size() == 2);
    const analysis::await_info& joined = loaded.awaits[parent.awaits.front()];
    CHECK(&loaded.tasks[joined.awaited] == &child);
    REQUIRE(joined.waker != analysis::none);
    CHECK(&loaded.tasks[joined.waker] == &child);
    check_all_add_up(loaded);
}

TEST_CASE("an exception that leaves a coroutine makes its task a failed one, and goes on in its "
          "awaiter") {
    bool caught = false;
    const auto loaded = record([&caught] {
        net::io_context io;
        net::co_spawn(io, catcher(caught), net::detached);
        io.run();
    });
    CHECK(caught);
    CHECK(task_named(loaded, "thrower").state == analysis::task_state::failed);
    CHECK(task_named(loaded, "catcher").state == analysis::task_state::finished);
    CHECK(&owner_of(loaded, "caught") == &task_named(loaded, "catcher"));
    check_all_add_up(loaded);
}

TEST_CASE("an await says what was awaited, and in which function and line") {
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
    CHECK(site.file.ends_with("test_operations.cpp"));
    CHECK(site.line > 0);
}

#if defined(COROSCOPE_TEST_ASIO_HAS_GROUPS)

namespace {

net::awaitable<void> both() {
    COROSCOPE_FUNCTION();
    using namespace net::experimental::awaitable_operators;
    co_await (napping_child() && napping_child());
    COROSCOPE("after both");
    busy(2ms);
}

net::awaitable<void> sleeps_long() {
    COROSCOPE_FUNCTION();
    co_await nap(1h);
}

net::awaitable<void> either(bool& first_won) {
    COROSCOPE_FUNCTION();
    using namespace net::experimental::awaitable_operators;
    const auto won = co_await (napping_child() || sleeps_long());
    first_won = won.index() == 0;
    COROSCOPE("after either");
}

using channel = net::experimental::channel<void(net_error::error_code, int)>;

net::awaitable<void> sends(channel& numbers) {
    COROSCOPE_FUNCTION();
    for (int each = 1; each <= 3; ++each) {
        co_await numbers.async_send({}, each, net::use_awaitable);
        co_await nap(1ms);
    }
}

net::awaitable<void> receives(channel& numbers, int& sum) {
    COROSCOPE_FUNCTION();
    for (int each = 1; each <= 3; ++each) sum += co_await numbers.async_receive(net::use_awaitable);
}

}  // namespace

TEST_CASE("a coroutine that awaits two with && is suspended until the later one has ended") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, both(), net::detached);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "both");
    int children = 0;
    for (const analysis::task_info& child : loaded.tasks) {
        if (spawn_label(loaded, child) != "napping_child") continue;
        ++children;
        REQUIRE(child.awaiter != analysis::none);
        CHECK(&loaded.tasks[child.awaiter] == &task);
        CHECK(&loaded.tasks[child.parent] == &task);
        CHECK(*child.end_ns <= scope_named(loaded, "after both").start_ns);
    }
    CHECK(children == 2);
    CHECK(&owner_of(loaded, "after both") == &task);
    CHECK(task.state == analysis::task_state::finished);
    CHECK(task.time.suspended_ns >= 5 * ms);
    CHECK(task.time.running_ns >= 2 * ms);
    check_all_add_up(loaded);
}

TEST_CASE("of two that are awaited with || the one that is cancelled ends, too") {
    bool first_won = false;
    const auto loaded = record([&first_won] {
        net::io_context io;
        net::co_spawn(io, either(first_won), net::detached);
        io.run();
    });
    CHECK(first_won);
    CHECK(&owner_of(loaded, "after either") == &task_named(loaded, "either"));
    CHECK(task_named(loaded, "napping_child").state == analysis::task_state::finished);
    CHECK(task_named(loaded, "sleeps_long").state == analysis::task_state::failed);
    CHECK(task_named(loaded, "either").state == analysis::task_state::finished);
    check_all_add_up(loaded);
}

TEST_CASE("a channel's receiver waits for its sender") {
    int sum = 0;
    const auto loaded = record([&sum] {
        net::io_context io;
        channel numbers(io, 0);
        net::co_spawn(io, receives(numbers, sum), net::detached);
        net::co_spawn(io, sends(numbers), net::detached);
        io.run();
    });
    CHECK(sum == 6);
    const analysis::task_info& receiver = task_named(loaded, "receives");
    CHECK(receiver.state == analysis::task_state::finished);
    CHECK(receiver.time.wall_ns() - receiver.time.running_ns >= 2 * ms);
    bool named = false;
    for (const std::uint32_t each : receiver.awaits)
        named |= loaded.sites[loaded.awaits[each].site].label.ends_with("async_receive");
    CHECK(named);
    check_all_add_up(loaded);
}

#endif

#if defined(COROSCOPE_TEST_ASIO_HAS_DEFERRED)

namespace {

net::awaitable<void> awaits_deferred() {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor, 3ms);
    co_await timer.async_wait(net::deferred);
    COROSCOPE("after deferred");
}

}  // namespace

TEST_CASE("a deferred operation is awaited like any other") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, awaits_deferred(), net::detached);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "awaits_deferred");
    CHECK(&owner_of(loaded, "after deferred") == &task);
    REQUIRE(task.awaits.size() >= 1);
    const analysis::await_info& last = loaded.awaits[task.awaits.back()];
    CHECK(loaded.sites[last.site].label == "deadline_timer.async_wait");
    CHECK(task.time.waiting_ns >= 2 * ms);
    check_all_add_up(loaded);
}

#endif

namespace {

/// An echo server of callbacks for a number of connections, one of them after another.
class echo_server {
public:
    echo_server(net::io_context& io, int connections)
        : acceptor_(io, tcp::endpoint(net::ip::address_v4::loopback(), 0)), left_(connections) {
        accept();
    }
    [[nodiscard]] tcp::endpoint place() const { return acceptor_.local_endpoint(); }

private:
    struct session : std::enable_shared_from_this<session> {
        explicit session(tcp::socket connected) : socket(std::move(connected)) {}
        void read() {
            socket.async_read_some(
                net::buffer(data),
                [self = shared_from_this()](net_error::error_code error, std::size_t bytes) {
                    if (error) return;
                    COROSCOPE("got");
                    net::async_write(self->socket, net::buffer(self->data, bytes),
                                     [self](net_error::error_code failed, std::size_t) {
                                         if (!failed) self->read();
                                     });
                });
        }
        tcp::socket socket;
        char data[64];
    };

    void accept() {
        if (left_-- == 0) return;
        acceptor_.async_accept([this](net_error::error_code error, tcp::socket connected) {
            if (!error) std::make_shared<session>(std::move(connected))->read();
            accept();
        });
    }

    tcp::acceptor acceptor_;
    int left_;
};

void ask(const tcp::endpoint& place, int rounds) {
    net::io_context io;
    tcp::socket socket(io);
    socket.connect(place);
    for (int round = 0; round < rounds; ++round) {
        char answer[5];
        net::write(socket, net::buffer("hello", 5));
        net::read(socket, net::buffer(answer));
    }
}

}  // namespace

namespace {

/// A composed operation: receives a datagram, leaves what follows to a coroutine, and rests if that is asked for.
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

const analysis::await_info& only_await(const analysis::trace& loaded,
                                       const analysis::task_info& task) {
    REQUIRE(task.awaits.size() == 1);
    return loaded.awaits[task.awaits.front()];
}

}  // namespace

TEST_CASE("a co_spawn that is a later step of what a coroutine awaits is its child, and wakes it") {
    const auto loaded = record_handshake(false);
    CHECK(loaded.tasks.size() == 2);
    const analysis::task_info& parent = task_named(loaded, "shakes_hands");
    const analysis::task_info& child = task_named(loaded, "napping_child");
    REQUIRE(child.parent != analysis::none);
    CHECK(&loaded.tasks[child.parent] == &parent);
    REQUIRE(child.awaiter != analysis::none);
    CHECK(&loaded.tasks[child.awaiter] == &parent);
    const analysis::await_info& await = only_await(loaded, parent);
    CHECK(loaded.sites[await.site].label == "socket.async_receive");
    CHECK(await.wake_ns == child.end_ns);
    REQUIRE(await.waker != analysis::none);
    CHECK(&loaded.tasks[await.waker] == &child);
    CHECK(parent.time.waiting_ns == 0);
}

namespace {

// An operation that starts a helper of which it wants nothing, and then what it is about.
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

TEST_CASE("a detached co_spawn in what a coroutine awaits is its child, and not what it awaits") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, starts_a_helper(), net::detached);
        io.run();
    });
    const analysis::task_info& parent = task_named(loaded, "starts_a_helper");
    const analysis::task_info& helper = task_named(loaded, "napping_child");
    REQUIRE(helper.parent != analysis::none);
    CHECK(&loaded.tasks[helper.parent] == &parent);
    CHECK(helper.awaiter == analysis::none);
    const analysis::await_info& await = only_await(loaded, parent);
    CHECK(await.awaited == analysis::none);
    CHECK(loaded.sites[await.site].label == "co_await");
    CHECK(loaded.sites[await.site].line > 0);
    CHECK_FALSE(await.wake_ns);
    check_all_add_up(loaded);
}

TEST_CASE("what woke the step that spawns a coroutine did not wake the coroutine") {
    const auto loaded = record_handshake(false);
    const analysis::task_info& child = task_named(loaded, "napping_child");
    REQUIRE(child.spawn_ns);
    REQUIRE(child.first_wake_ns);
    CHECK(*child.first_wake_ns >= *child.spawn_ns);
}

TEST_CASE("an operation that rests after its co_spawn has not been ready since that ended") {
    const auto loaded = record_handshake(true);
    CHECK(loaded.tasks.size() == 2);
    CHECK_FALSE(only_await(loaded, task_named(loaded, "shakes_hands")).wake_ns);
}

TEST_CASE("each operation of a server of callbacks is a task that runs its handler") {
    constexpr int connections = 4;
    constexpr int rounds = 3;
    const auto loaded = record([] {
        net::io_context io;
        echo_server server(io, connections);
        std::thread clients([place = server.place()] {
            for (int each = 0; each < connections; ++each) ask(place, rounds);
        });
        io.run();
        clients.join();
    });
    CHECK(count_tasks(loaded, "socket.async_accept") == connections);
    CHECK(count_tasks(loaded, "socket.async_receive") == connections * (rounds + 1));
    CHECK(count_tasks(loaded, "socket.async_send") == connections * rounds);
    int got = 0;
    for (const analysis::event& scope : loaded.events) {
        if (loaded.strings[scope.name] != "got") continue;
        ++got;
        REQUIRE(scope.task != analysis::none);
        CHECK(spawn_label(loaded, loaded.tasks[scope.task]) == "socket.async_receive");
    }
    CHECK(got == connections * rounds);
    for (const analysis::task_info& task : loaded.tasks) {
        CHECK(task.state == analysis::task_state::finished);
        CHECK(task.first_wake_ns);  // the reactor's event
        const bool first = spawn_label(loaded, task) == "socket.async_accept";
        if (!first) CHECK(task.parent != analysis::none);
    }
    check_all_add_up(loaded);
}

TEST_CASE("the name resolver, signals and a strand of callbacks are tasks like others") {
    const auto loaded = record([] {
        net::io_context io;
        tcp::resolver resolver(io);
        resolver.async_resolve("127.0.0.1", "80",
                               [](net_error::error_code, const auto&) { COROSCOPE("resolved"); });
        net::signal_set signals(io, SIGUSR2);
        signals.async_wait([](net_error::error_code, int) { COROSCOPE("signalled"); });
        const auto strand = net::make_strand(io);
        net::post(strand, [] { COROSCOPE("on strand"); });
        net::steady_timer timer(io, 1ms);
        timer.async_wait(
            net::bind_executor(strand, [](net_error::error_code) { COROSCOPE("rang"); }));
        std::raise(SIGUSR2);
        io.run();
    });
    CHECK(spawn_label(loaded, owner_of(loaded, "resolved")) == "resolver.async_resolve");
    CHECK(spawn_label(loaded, owner_of(loaded, "signalled")) == "signal_set.async_wait");
    CHECK(spawn_label(loaded, owner_of(loaded, "on strand")).starts_with("strand_executor."));
    CHECK_FALSE(spawn_label(loaded, owner_of(loaded, "rang")).empty());
    for (const analysis::task_info& task : loaded.tasks)
        CHECK(task.state == analysis::task_state::finished);
    check_all_add_up(loaded);
}

TEST_CASE("a session that starts meanwhile sees coroutines and handlers from their next step on") {
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
