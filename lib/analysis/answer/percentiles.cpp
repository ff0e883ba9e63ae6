// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/percentiles.hpp>

#include <algorithm>
#include <cstddef>

namespace coroscope::analysis {

percentiles percentiles_of(std::vector<std::int64_t>& durations_ns) {
    percentiles found;
    if (durations_ns.empty()) return found;
    std::sort(durations_ns.begin(), durations_ns.end());
    const std::size_t count = durations_ns.size();
    // Nearest rank: the smallest duration that at least `percent` of all do not exceed.
    const auto rank = [&](std::size_t percent) {
        return durations_ns[(count * percent + 99) / 100 - 1];
    };
    found.count = count;
    found.p50_ns = rank(50);
    found.p90_ns = rank(90);
    found.p95_ns = rank(95);
    found.p99_ns = rank(99);
    found.max_ns = durations_ns.back();
    return found;
}

}  // namespace coroscope::analysis
