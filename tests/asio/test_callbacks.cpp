// SPDX-License-Identifier: Apache-2.0

// Operations with callbacks as completion handlers.

#include <csignal>
#include <memory>
#include <thread>
#include <utility>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

using tcp = net::ip::tcp;

/// An echo server with callbacks, for a number of connections, one after the other.
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

TEST_CASE("each operation of a server with callbacks is a task that runs its handler") {
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
        CHECK(task.first_wake_ns);  // woken by the reactor's event
        const bool first = spawn_label(loaded, task) == "socket.async_accept";
        if (!first) CHECK(task.parent != analysis::none);
    }
    check_all_add_up(loaded);
}

TEST_CASE("the operations of the name resolver, signals and a strand with callbacks are tasks") {
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
