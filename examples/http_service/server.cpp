// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include "thread_name.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <coroscope/coroscope.hpp>

#include <csignal>
#include <exception>
#include <iostream>

namespace http_service {

namespace {

constexpr std::size_t cache_capacity = 4096;
constexpr std::chrono::seconds cache_time_to_live{2};

net::ip::tcp::endpoint loopback(std::uint16_t port) {
    return {net::ip::address_v4::loopback(), port};
}

}  // namespace

server::server(const options& settings, store& entries)
    : settings_{settings},
      cached_{cache_capacity, cache_time_to_live},
      requests_{entries, cached_, counters_},
      context_{static_cast<int>(settings.threads)},
      control_{context_.get_executor()},
      acceptor_{control_, loopback(settings.port)},
      signals_{control_, SIGINT, SIGTERM},
      janitor_{control_, entries, cached_, counters_} {}

void server::start() {
    net::co_spawn(control_, accept_connections(), net::detached);
    net::co_spawn(control_, await_signal(), net::detached);
    net::co_spawn(control_, janitor_.run(), net::detached);
    const thread_name workers{"http"};
    for (unsigned count = 0; count < settings_.threads; ++count) {
        threads_.emplace_back([this] { context_.run(); });
    }
}

void server::stop() {
    net::post(control_, [this] { stop_everything(); });
}

void server::wait() { threads_.clear(); }

net::awaitable<void> server::accept_connections() {
    COROSCOPE_FUNCTION();
    while (!stopping_) {
        boost::system::error_code error;
        net::ip::tcp::socket socket{net::make_strand(context_)};
        co_await COROSCOPE_AWAIT(
            "accept",
            acceptor_.async_accept(socket, net::redirect_error(net::use_awaitable, error)));
        if (stopping_) {
            break;
        }
        if (error) {
            co_await pause_after(error);
        } else {
            open_session(std::move(socket));
        }
    }
}

/// Out of descriptors, most likely: accepting again at once would only spin.
net::awaitable<void> server::pause_after(const boost::system::error_code& error) {
    COROSCOPE_FUNCTION();
    std::cerr << "http_service: cannot accept: " + error.message() + '\n';
    net::steady_timer timer{control_, std::chrono::milliseconds{50}};
    co_await COROSCOPE_AWAIT("accept.pause", timer.async_wait(net::use_awaitable));
}

net::awaitable<void> server::await_signal() {
    COROSCOPE_FUNCTION();
    boost::system::error_code cancelled;
    co_await COROSCOPE_AWAIT(
        "signal", signals_.async_wait(net::redirect_error(net::use_awaitable, cancelled)));
    if (!cancelled) {
        stop_everything();
    }
}

void server::open_session(net::ip::tcp::socket socket) {
    COROSCOPE("open_session");
    counters_.connections.fetch_add(1, std::memory_order_relaxed);
    boost::system::error_code ignored;
    static_cast<void>(socket.set_option(net::ip::tcp::no_delay{true}, ignored));
    auto opened =
        std::make_shared<session>(std::move(socket), requests_, counters_, settings_.serve);
    sessions_.insert(opened);
    auto forget = [this, opened](const std::exception_ptr&) { sessions_.erase(opened); };
    net::co_spawn(opened->executor(), opened->run(),
                  net::bind_executor(control_, std::move(forget)));
}

void server::stop_everything() {
    stopping_ = true;
    boost::system::error_code ignored;
    static_cast<void>(acceptor_.close(ignored));
    static_cast<void>(signals_.cancel(ignored));
    janitor_.stop();
    for (const auto& open : sessions_) {
        open->stop();
    }
}

}  // namespace http_service
