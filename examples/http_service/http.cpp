// SPDX-License-Identifier: Apache-2.0
#include "http.hpp"

namespace http_service {

std::string_view target_of(const request& message) {
    const auto target = message.target();
    return {target.data(), target.size()};
}

response make_reply(unsigned version, http::status status, std::string body) {
    response reply{status, version};
    reply.set(http::field::server, "http_service");
    reply.set(http::field::content_type, "text/plain; charset=utf-8");
    reply.body() = std::move(body);
    reply.prepare_payload();
    return reply;
}

}  // namespace http_service
