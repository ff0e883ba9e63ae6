// SPDX-License-Identifier: Apache-2.0

// The load client of examples/http_service as a program of its own, without the profiler.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "load_client.hpp"

int main(int count, char** words) try {
    if (count != 4) {
        std::fputs("usage: bench_service_load PORT REQUESTS CONNECTIONS\n", stderr);
        return 2;
    }
    http_service::load_plan plan{};
    plan.port = static_cast<std::uint16_t>(std::atoi(words[1]));
    plan.requests = std::strtoul(words[2], nullptr, 10);
    plan.connections = std::strtoul(words[3], nullptr, 10);
    http_service::load_result result = http_service::run_load(plan);
    if (result.unexpected != 0) {
        std::fprintf(stderr, "bench_service_load: %s\n", result.first_problem.c_str());
        return 1;
    }
    std::sort(result.latencies.begin(), result.latencies.end());
    const auto p99 = result.latencies[result.latencies.size() * 99 / 100];
    std::printf("{\"seconds\": %.6f, \"p99_ms\": %.6f}\n",
                std::chrono::duration<double>(result.elapsed).count(),
                std::chrono::duration<double, std::milli>(p99).count());
} catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_service_load: %s\n", failure.what());
    return 1;
}
