// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends messages to a server by HTTP, without encryption.

#include <optional>
#include <string>
#include <string_view>

#include <coroscope/analysis/result.hpp>

namespace coroscope::tools {

/// The parts of "http://host:4318/v1/traces".
struct http_address {
    std::string host;
    std::string port;
    std::string path;
};

/// Returns nothing if the text is not such an address. Without a port, the port is 80; without a
/// path, the path is `default_path`.
[[nodiscard]] std::optional<http_address> read_http_address(std::string_view text,
                                                            std::string_view default_path);

/// Sends one message on a connection of its own, and waits for the answer, each step for at most
/// ten seconds. Succeeds if the server's status is 2xx; returns the status.
[[nodiscard]] analysis::result<int> http_post(const http_address& to, std::string_view content_type,
                                              std::string_view body);

}  // namespace coroscope::tools
