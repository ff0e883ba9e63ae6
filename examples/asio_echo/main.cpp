// SPDX-License-Identifier: Apache-2.0

// An echo server and its clients on Boost.Asio. Asio's handler tracking, which the target
// coroscope-asio (coroscope::asio) defines, makes each co_spawn a task and each operation an await.

#include <boost/asio.hpp>
#include <coroscope/coroscope.hpp>

#include <array>
#include <cstdio>
#include <string_view>
#include <thread>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int clients = 8;
constexpr int rounds = 20;

asio::awaitable<void> echo(tcp::socket socket) {
    COROSCOPE_FUNCTION();
    std::array<char, 512> bytes{};
    for (;;) {
        const auto [error, size] = co_await socket.async_read_some(
            asio::buffer(bytes), asio::as_tuple(asio::use_awaitable));
        if (error) co_return;
        COROSCOPE_REQUEST("echo");
        co_await COROSCOPE_AWAIT(
            "answer", asio::async_write(socket, asio::buffer(bytes, size), asio::use_awaitable));
    }
}

asio::awaitable<void> serve(tcp::acceptor& acceptor) {
    COROSCOPE_FUNCTION();
    for (int accepted = 0; accepted < clients; ++accepted)
        asio::co_spawn(acceptor.get_executor(),
                       echo(co_await acceptor.async_accept(asio::use_awaitable)), asio::detached);
}

asio::awaitable<void> ask(tcp::endpoint server) {
    COROSCOPE_FUNCTION();
    constexpr std::string_view question = "hello";
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    std::array<char, question.size()> answer{};
    for (int round = 0; round < rounds; ++round) {
        co_await asio::async_write(socket, asio::buffer(question), asio::use_awaitable);
        co_await asio::async_read(socket, asio::buffer(answer), asio::use_awaitable);
    }
}

}  // namespace

int main() {
    const coroscope::profile session({.output = "asio_echo.cst", .all_threads = true});
    if (session.status().state == coroscope::session_state::refused)
        std::printf("nothing is recorded: %s\n", session.status().message);

    asio::io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::co_spawn(context, serve(acceptor), asio::detached);
    for (int client = 0; client < clients; ++client)
        asio::co_spawn(context, ask(acceptor.local_endpoint()), asio::detached);
    std::thread second([&context] { context.run(); });
    context.run();
    second.join();
    std::printf("%d clients got %d answers each\n", clients, rounds);
}
