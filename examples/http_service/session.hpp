// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection: reads requests, has them answered, writes the replies, until the peer or the
// service ends it. Everything but `stop` and `executor` runs on the connection's own strand.

#include "handler.hpp"
#include "http.hpp"
#include "statistics.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>

#include <memory>

namespace http_service {

class session : public std::enable_shared_from_this<session> {
public:
    /// The socket's executor must be a strand. `report_failures` also prints the exceptions of
    /// requests.
    session(net::ip::tcp::socket socket, handler& requests, statistics& counters,
            bool report_failures);

    /// Serves the connection. The object must outlive it.
    [[nodiscard]] net::awaitable<void> run();

    /// Any thread: a request in progress still gets its reply, an idle connection closes now.
    void stop();

    [[nodiscard]] net::any_io_executor executor() { return stream_.get_executor(); }

private:
    using request_parser = http::request_parser<http::string_body>;

    net::awaitable<beast::error_code> read(request_parser& parser);
    net::awaitable<response> answer(const request& message);
    net::awaitable<beast::error_code> write(response& reply);
    net::awaitable<void> refuse(beast::error_code reason);
    net::awaitable<void> linger();
    void note_failure(const request& message, const char* what);

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    handler& requests_;
    statistics& counters_;
    const bool report_failures_;
    bool reading_ = false;
    bool stopping_ = false;
};

}  // namespace http_service
