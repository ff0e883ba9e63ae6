// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <coroscope/coroscope.hpp>

#include <iostream>

namespace http_service {

session::session(net::ip::tcp::socket socket, handler& requests, statistics& counters,
                 bool report_failures)
    : stream_{std::move(socket)},
      requests_{requests},
      counters_{counters},
      report_failures_{report_failures} {}

net::awaitable<void> session::run() {
    COROSCOPE_FUNCTION();
    bool keep_alive = true;
    while (keep_alive && !stopping_) {
        request_parser parser;
        if (const auto error = co_await read(parser)) {
            co_await refuse(error);
            break;
        }
        const request message = parser.release();
        response reply = co_await answer(message);
        keep_alive = message.keep_alive() && !stopping_;
        reply.keep_alive(keep_alive);
        if (co_await write(reply)) {
            break;
        }
    }
}

void session::stop() {
    net::post(stream_.get_executor(), [self = shared_from_this()] {
        self->stopping_ = true;
        if (self->reading_) {
            self->stream_.cancel();
        }
    });
}

net::awaitable<beast::error_code> session::read(request_parser& parser) {
    COROSCOPE_FUNCTION();
    beast::error_code error;
    parser.body_limit(body_limit_bytes);
    stream_.expires_after(peer_timeout);
    reading_ = true;
    co_await COROSCOPE_AWAIT(
        "http.read",
        http::async_read(stream_, buffer_, parser, net::redirect_error(net::use_awaitable, error)));
    reading_ = false;
    co_return error;
}

net::awaitable<response> session::answer(const request& message) {
    COROSCOPE_FUNCTION();
    try {
        co_return co_await requests_.handle(message);
    } catch (const std::exception& failure) {
        note_failure(message, failure.what());
    }
    co_return make_reply(message.version(), http::status::internal_server_error,
                         "internal error\n");
}

net::awaitable<beast::error_code> session::write(response& reply) {
    COROSCOPE_FUNCTION();
    beast::error_code error;
    stream_.expires_after(peer_timeout);
    co_await COROSCOPE_AWAIT(
        "http.write",
        http::async_write(stream_, reply, net::redirect_error(net::use_awaitable, error)));
    co_return error;
}

/// Sends the reason to a peer whose request could not be read, if it speaks HTTP and still listens.
net::awaitable<void> session::refuse(beast::error_code reason) {
    COROSCOPE_FUNCTION();
    const bool is_protocol_error =
        reason.category() == make_error_code(http::error::end_of_stream).category();
    if (!is_protocol_error || reason == http::error::end_of_stream ||
        reason == http::error::partial_message) {
        co_return;
    }
    constexpr unsigned http_1_1 = 11;
    const bool too_large = reason == http::error::body_limit;
    auto reply = too_large
                     ? make_reply(http_1_1, http::status::payload_too_large, "body too large\n")
                     : make_reply(http_1_1, http::status::bad_request, "malformed request\n");
    reply.keep_alive(false);
    if (!co_await write(reply)) {
        co_await linger();
    }
}

/// A socket closed with unread input resets the connection, which may overtake the reply. The
/// function therefore reads the input that is under way.
net::awaitable<void> session::linger() {
    COROSCOPE_FUNCTION();
    constexpr std::size_t patience_bytes = 1024 * 1024;
    constexpr std::size_t chunk_bytes = 4096;
    beast::error_code error;
    static_cast<void>(stream_.socket().shutdown(net::ip::tcp::socket::shutdown_send, error));
    stream_.expires_after(std::chrono::seconds{1});
    buffer_.clear();
    for (std::size_t total = 0; !error && total < patience_bytes;) {
        const auto unread = buffer_.prepare(chunk_bytes);
        total += co_await COROSCOPE_AWAIT(
            "http.linger",
            stream_.async_read_some(unread, net::redirect_error(net::use_awaitable, error)));
    }
}

void session::note_failure(const request& message, const char* what) {
    std::string text = std::string{target_of(message)} + ": " + what;
    if (report_failures_) {
        std::cerr << "http_service: " + text + '\n';
    }
    counters_.note_failure(std::move(text));
}

}  // namespace http_service
