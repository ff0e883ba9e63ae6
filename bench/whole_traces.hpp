// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common part of the rows about whole traces. Rates are of processor time of all threads
// together.

#include <algorithm>
#include <array>
#include <cstdint>

#include <coroscope/trace/buffer.hpp>

namespace bench {

/// A trace of that many scopes on three levels, as services nest them.
coroscope::trace::buffer trace_of(std::uint64_t scopes);

/// The floor of loading: verifies the trace's chunks and reads every record once.
std::uint64_t look_at(const coroscope::trace::buffer& bytes);

double processor_seconds();

/// Returns millions of items per second, the median of three runs.
template <class Work>
double rate(std::uint64_t count, Work&& work) {
    std::array<double, 3> seconds{};
    for (double& each : seconds) {
        const double start = processor_seconds();
        work();
        each = processor_seconds() - start;
    }
    std::sort(seconds.begin(), seconds.end());
    return static_cast<double>(count) / seconds[1] / 1e6;
}

}  // namespace bench
