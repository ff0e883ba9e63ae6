// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include <boost/beast/http/verb.hpp>

#include <coroscope/coroscope.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace http_service {

namespace {

/// A request for a key that takes longer counts as late.
constexpr std::chrono::milliseconds deadline{50};

/// Returns the text after the prefix, if the target has it.
std::optional<std::string> after(std::string_view prefix, std::string_view target) {
    if (!target.starts_with(prefix)) {
        return std::nullopt;
    }
    return std::string{target.substr(prefix.size())};
}

/// Keys and search texts have an alphabet that needs no percent-decoding.
bool is_valid(std::string_view name) {
    constexpr std::string_view alphabet =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return !name.empty() && name.size() <= 128 &&
           name.find_first_not_of(alphabet) == std::string_view::npos;
}

response method_not_allowed(unsigned version, const char* allowed) {
    response reply = make_reply(version, http::status::method_not_allowed, "method not allowed\n");
    reply.set(http::field::allow, allowed);
    return reply;
}

std::string to_lines(const std::vector<std::string>& keys) {
    COROSCOPE("render");
    std::string lines;
    for (const auto& key : keys) {
        lines += key;
        lines += '\n';
    }
    return lines;
}

}  // namespace

net::awaitable<response> handler::handle(const request& message) {
    COROSCOPE_FUNCTION();
    counters_.requests.fetch_add(1, std::memory_order_relaxed);
    const std::string_view target = target_of(message);
    if (auto key = after("/kv/", target)) {
        co_return co_await on_key(message, std::move(*key));
    }
    if (auto text = after("/search/", target)) {
        co_return co_await search(message, std::move(*text));
    }
    if (target == "/stats") {
        co_return make_reply(message.version(), http::status::ok, counters_.to_text());
    }
    co_return make_reply(message.version(), http::status::not_found, "no such resource\n");
}

net::awaitable<response> handler::on_key(const request& message, std::string key) {
    COROSCOPE_FUNCTION();
    if (!is_valid(key)) {
        co_return make_reply(message.version(), http::status::bad_request, "malformed key\n");
    }
    switch (message.method()) {
        case http::verb::get: co_return co_await get(message.version(), std::move(key));
        case http::verb::put: co_return co_await put(message, std::move(key));
        case http::verb::delete_: co_return co_await erase(message.version(), std::move(key));
        default: co_return method_not_allowed(message.version(), "GET, PUT, DELETE");
    }
}

net::awaitable<response> handler::get(unsigned version, std::string key) {
    COROSCOPE_REQUEST("GET /kv", deadline);
    COROSCOPE_FUNCTION();
    auto cached = cached_.lookup(key);
    if (cached.value) {
        counters_.cache_hits.fetch_add(1, std::memory_order_relaxed);
        co_return make_reply(version, http::status::ok, std::move(*cached.value));
    }
    counters_.cache_misses.fetch_add(1, std::memory_order_relaxed);
    auto stored = co_await entries_.get(key);
    if (!stored) {
        co_return make_reply(version, http::status::not_found, "no such key\n");
    }
    cached_.fill(key, *stored, cached.version);
    co_return make_reply(version, http::status::ok, std::move(*stored));
}

net::awaitable<response> handler::put(const request& message, std::string key) {
    COROSCOPE_REQUEST("PUT /kv", deadline);
    COROSCOPE_FUNCTION();
    co_await entries_.put(key, message.body());
    cached_.invalidate(key);
    co_return make_reply(message.version(), http::status::no_content, {});
}

net::awaitable<response> handler::erase(unsigned version, std::string key) {
    COROSCOPE_REQUEST("DELETE /kv", deadline);
    COROSCOPE_FUNCTION();
    const bool was_there = co_await entries_.erase(key);
    cached_.invalidate(key);
    co_return was_there ? make_reply(version, http::status::no_content, {})
                        : make_reply(version, http::status::not_found, "no such key\n");
}

net::awaitable<response> handler::search(const request& message, std::string text) {
    COROSCOPE_REQUEST("GET /search");
    COROSCOPE_FUNCTION();
    if (message.method() != http::verb::get) {
        co_return method_not_allowed(message.version(), "GET");
    }
    if (!is_valid(text)) {
        co_return make_reply(message.version(), http::status::bad_request,
                             "malformed search text\n");
    }
    const auto keys = co_await entries_.search(std::move(text));
    co_return make_reply(message.version(), http::status::ok, to_lines(keys));
}

}  // namespace http_service
