// SPDX-License-Identifier: Apache-2.0
#pragma once

// The settings of the command line.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace http_service {

struct options {
    std::uint16_t port = 0;   ///< 0: the system picks one
    unsigned threads = 2;     ///< threads that serve connections
    unsigned db_threads = 2;  ///< threads that run queries, each with a connection to the database
    std::string database = "http_service.db";
    bool serve = false;             ///< run until a signal instead of running the load client
    std::size_t requests = 20'000;  ///< load client: how many in all
    std::size_t connections = 32;   ///< load client: how many at a time
    std::uint32_t seed = 1;         ///< load client: equal seeds send equal requests
};

struct command_line {
    options values;
    std::optional<int>
        exit_code;  ///< set when the program should end now (`--help`, a usage error)
};

/// Parses and validates; prints help or the usage error itself.
[[nodiscard]] command_line parse_command_line(int argc, char** argv);

}  // namespace http_service
