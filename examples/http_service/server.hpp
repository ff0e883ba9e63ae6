// SPDX-License-Identifier: Apache-2.0
#pragma once

// The life of the service: listens, spawns a session per connection, runs the janitor, and ends in
// order when a signal or the owner asks for it.

#include "cache.hpp"
#include "handler.hpp"
#include "janitor.hpp"
#include "options.hpp"
#include "session.hpp"
#include "statistics.hpp"
#include "store.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

namespace http_service {

class server {
public:
    /// Listens. The store must outlive the server's threads. Throws `boost::system::system_error`.
    server(const options& settings, store& entries);

    /// The port that was asked for, or the one that the system picked.
    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    /// Starts the threads. Call it once.
    void start();

    /// Any thread, any number of times: accept nothing more, finish the requests in progress.
    void stop();

    /// Returns when the last connection has ended, after `stop` or a signal.
    void wait();

private:
    net::awaitable<void> accept_connections();
    net::awaitable<void> pause_after(const boost::system::error_code& error);
    net::awaitable<void> await_signal();
    void open_session(net::ip::tcp::socket socket);
    void stop_everything();

    const options settings_;
    statistics counters_;
    cache cached_;
    handler requests_;
    net::io_context context_;
    net::strand<net::io_context::executor_type> control_;  ///< everything below is used on it only
    net::ip::tcp::acceptor acceptor_;
    net::signal_set signals_;
    janitor janitor_;
    std::unordered_set<std::shared_ptr<session>> sessions_;
    bool stopping_ = false;
    /// The owner's; last, so that they end before the members that they use.
    std::vector<std::jthread> threads_;
};

}  // namespace http_service
