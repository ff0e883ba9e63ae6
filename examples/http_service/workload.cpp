// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include "catalogue.hpp"

#include <boost/beast/http/verb.hpp>

#include <algorithm>

namespace http_service {

namespace {

exchange make_exchange(http::verb method, const std::string& target, http::status expected) {
    constexpr unsigned http_1_1 = 11;
    exchange result;
    result.message = request{method, target, http_1_1};
    result.message.set(http::field::host, "localhost");
    result.expected = expected;
    return result;
}

exchange make_put(const std::string& key, std::string value, http::status expected) {
    auto result = make_exchange(http::verb::put, "/kv/" + key, expected);
    result.message.body() = std::move(value);
    result.message.prepare_payload();
    return result;
}

}  // namespace

workload::workload(std::uint32_t seed, std::size_t connection) : connection_{connection} {
    std::seed_seq mixed{seed, static_cast<std::uint32_t>(connection)};
    generator_.seed(mixed);
}

exchange workload::next() {
    const std::size_t choice = below(1000);
    if (choice < 750) return get_item();
    if (choice < 850) return get_own();
    if (choice < 950) return put_own();
    if (choice < 980) return erase_own();
    if (choice < 984) return search(true);
    if (choice < 990) return search(false);
    if (choice < 995) return malformed();
    if (choice < 999) return make_exchange(http::verb::get, "/stats", http::status::ok);
    return put_oversized();
}

/// A few items are asked for often, so that the cache has something to do: the smaller of three
/// dice.
exchange workload::get_item() {
    const std::size_t index =
        std::min({below(catalogue::size), below(catalogue::size), below(catalogue::size)});
    auto result = make_exchange(http::verb::get, "/kv/" + catalogue::key(index), http::status::ok);
    result.expected_body = catalogue::value(index);
    return result;
}

exchange workload::get_own() {
    const std::string key = own_key();
    auto result = make_exchange(http::verb::get, "/kv/" + key, http::status::ok);
    const auto known = own_.find(key);
    if (known == own_.end()) {
        result.alternative = http::status::not_found;
    } else if (known->second) {
        result.expected_body = known->second;
    } else {
        result.expected = http::status::not_found;
    }
    return result;
}

exchange workload::put_own() {
    const std::string key = own_key();
    std::string value(16 + below(1500), static_cast<char>('a' + below(26)));
    own_[key] = value;
    return make_put(key, std::move(value), http::status::no_content);
}

/// Within the limit for bodies, beyond that of the database: the query throws.
exchange workload::put_oversized() {
    return make_put(own_key(), std::string(20'000, 'x'), http::status::internal_server_error);
}

exchange workload::erase_own() {
    const std::string key = own_key();
    auto result = make_exchange(http::verb::delete_, "/kv/" + key, http::status::no_content);
    const auto known = own_.find(key);
    if (known == own_.end()) {
        result.alternative = http::status::not_found;
    } else if (!known->second) {
        result.expected = http::status::not_found;
    }
    own_[key] = std::nullopt;
    return result;
}

exchange workload::search(bool rare) {
    const std::size_t index = below(catalogue::size);
    const std::string text = rare ? catalogue::rare_text(index) : catalogue::common_text(index);
    auto result = make_exchange(http::verb::get, "/search/" + text, http::status::ok);
    if (rare) {
        result.expected_body = catalogue::key(index) + '\n';
    }
    return result;
}

exchange workload::malformed() {
    return make_exchange(http::verb::get, "/kv/not%20a%20key", http::status::bad_request);
}

std::string workload::own_key() {
    return "own-" + std::to_string(connection_) + '-' + std::to_string(below(50));
}

bool matches(const exchange& expectation, const response& reply) {
    if (expectation.alternative && reply.result() == *expectation.alternative) {
        return true;
    }
    return reply.result() == expectation.expected &&
           (!expectation.expected_body || reply.body() == *expectation.expected_body);
}

}  // namespace http_service
