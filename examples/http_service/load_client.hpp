// SPDX-License-Identifier: Apache-2.0
#pragma once

// The built-in load client: keeps a number of connections busy over real loopback sockets, checks
// every reply, and measures how long each took. It has an I/O context of its own and runs it on the
// calling thread.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace http_service {

struct load_plan {
    std::uint16_t port;
    std::size_t requests;
    std::size_t connections;
    std::uint32_t seed;
};

struct load_result {
    std::vector<std::chrono::nanoseconds> latencies;  ///< of each exchange that got a reply
    std::size_t expected_errors = 0;  ///< 4xx and 5xx replies that were the right answer
    std::size_t unexpected = 0;       ///< wrong replies, and requests that got none
    std::string first_problem;        ///< description of the first unexpected one
    std::chrono::nanoseconds elapsed{0};
};

/// Blocks until every request has its reply or its connection has failed.
[[nodiscard]] load_result run_load(const load_plan& plan);

/// One line: requests, errors, throughput and latency. Sorts the latencies.
[[nodiscard]] std::string summarize(const load_plan& plan, load_result& result);

}  // namespace http_service
