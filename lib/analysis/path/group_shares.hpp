// SPDX-License-Identifier: Apache-2.0
#pragma once

// What more of the slow requests have than of the median ones: attributes, threads, executors.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/slow_requests.hpp>

namespace coroscope::analysis::inline paths {

/// Something is named if this share of the slow requests has it, and if that is this many times the
/// share of the median ones. Smaller differences may be chance.
inline constexpr double least_carried = 0.5;
inline constexpr double least_times = 2;

[[nodiscard]] constexpr bool is_typical_of_slow(double slow_share, double median_share) noexcept {
    return slow_share >= least_carried && slow_share >= least_times * median_share;
}

/// Sorts differences of shares, the largest first.
template <class Difference>
void sort_by_share(std::vector<Difference>& differences) {
    std::ranges::stable_sort(differences, std::ranges::greater(), [](const Difference& each) {
        return each.slow_share - each.median_share;
    });
}

/// The threads on which the paths of the slow requests ran, and the executors for which they were
/// queued, as far as they are typical of them and no chance.
struct group_uses {
    std::vector<use_difference> threads;
    std::vector<use_difference> executors;
};

/// `paths` begin with those of the `slow` slow requests.
[[nodiscard]] group_uses uses_of(const trace& loaded, std::span<const critical_path> paths,
                                 std::size_t slow);

}  // namespace coroscope::analysis::inline paths
