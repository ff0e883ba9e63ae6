// SPDX-License-Identifier: Apache-2.0
#pragma once

// The HTTP vocabulary that the parts of the service share: message types, limits, and how a reply
// is made.

#include <utility>  // first: Boost 1.74's awaitable uses std::exchange without including it

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace http_service {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

/// A request body above this is refused with 413 before it is read.
inline constexpr std::uint64_t body_limit_bytes = 64 * 1024;

/// A peer that stays silent for this long inside an exchange, or between two, is disconnected.
inline constexpr std::chrono::seconds peer_timeout{30};

/// The request's target, valid as long as the request (Beast's view type differs between Boost
/// releases).
[[nodiscard]] std::string_view target_of(const request& message);

/// A plain-text reply of the given HTTP version, complete but for `keep_alive`.
[[nodiscard]] response make_reply(unsigned version, http::status status, std::string body);

}  // namespace http_service
