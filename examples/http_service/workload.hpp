// SPDX-License-Identifier: Apache-2.0
#pragma once

// The requests of one connection of the load client, and the right replies: a seeded mix of every
// route, with a model of the keys that the connection owns. Not thread-safe; each connection must
// have its own.

#include "http.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>

namespace http_service {

/// A request and the reply that would be right.
struct exchange {
    request message;
    http::status expected = http::status::ok;
    std::optional<http::status> alternative;   ///< a key left by an earlier run may be there or not
    std::optional<std::string> expected_body;  ///< unset: any
};

class workload {
public:
    workload(std::uint32_t seed, std::size_t connection);

    /// The next request. Its reply must be there before the next call: the model assumes that it
    /// was right.
    [[nodiscard]] exchange next();

private:
    [[nodiscard]] exchange get_item();
    [[nodiscard]] exchange get_own();
    [[nodiscard]] exchange put_own();
    [[nodiscard]] exchange put_oversized();
    [[nodiscard]] exchange erase_own();
    [[nodiscard]] exchange search(bool rare);
    [[nodiscard]] exchange malformed();

    [[nodiscard]] std::size_t below(std::size_t limit) { return generator_() % limit; }
    [[nodiscard]] std::string own_key();

    std::mt19937 generator_;
    std::size_t connection_;
    std::unordered_map<std::string, std::optional<std::string>>
        own_;  ///< as far as known; nullopt: erased
};

/// True if the reply is the one that was expected.
[[nodiscard]] bool matches(const exchange& expectation, const response& reply);

}  // namespace http_service
