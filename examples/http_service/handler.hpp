// SPDX-License-Identifier: Apache-2.0
#pragma once

// The service: one request in, one reply out.
//
//     GET | PUT | DELETE  /kv/KEY        the value of a key
//     GET                 /search/TEXT   the first keys whose value contains the text, one per line
//     GET                 /stats         counters
//
// One object serves all connections; any thread may call `handle`.

#include "cache.hpp"
#include "http.hpp"
#include "statistics.hpp"
#include "store.hpp"

#include <string>

namespace http_service {

class handler {
public:
    handler(store& entries, cache& cached, statistics& counters)
        : entries_{entries}, cached_{cached}, counters_{counters} {}

    /// The reply to a request, which must outlive the await. Whatever the database throws passes
    /// through.
    [[nodiscard]] net::awaitable<response> handle(const request& message);

private:
    net::awaitable<response> on_key(const request& message, std::string key);
    net::awaitable<response> get(unsigned version, std::string key);
    net::awaitable<response> put(const request& message, std::string key);
    net::awaitable<response> erase(unsigned version, std::string key);
    net::awaitable<response> search(const request& message, std::string text);

    store& entries_;
    cache& cached_;
    statistics& counters_;
};

}  // namespace http_service
