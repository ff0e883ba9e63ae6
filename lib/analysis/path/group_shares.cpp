// SPDX-License-Identifier: Apache-2.0
#include "group_shares.hpp"

#include <cmath>
#include <set>

#include "work_ahead.hpp"

namespace coroscope::analysis::inline paths {
namespace {

// Chance gives each request some thread. A thread is named if chance, with the share of the median
// requests as probability, would put so many slow ones on it in less than one of a hundred
// comparisons.
constexpr double most_by_chance = 0.01;

using counts = std::map<std::uint32_t, std::uint64_t>;

struct group_counts {
    std::uint64_t paths = 0;
    counts threads{};
    counts executors{};
};

group_counts counts_of(const trace& loaded, std::span<const critical_path> group) {
    group_counts made{.paths = group.size()};
    for (const critical_path& path : group) {
        std::set<std::uint32_t> threads, executors;
        for (const path_segment& each : path.segments) {
            if (each.thread < loaded.threads.size()) threads.insert(each.thread);
            if (each.kind != path_kind::queued) continue;
            const std::uint32_t executor = queue_of(loaded, each).executor;
            if (executor < loaded.executors.size()) executors.insert(executor);
        }
        for (const std::uint32_t thread : threads) ++made.threads[thread];
        for (const std::uint32_t executor : executors) ++made.executors[executor];
    }
    return made;
}

// The probability of at least `least` successes in `trials`, each of probability `each`.
double at_least(std::uint64_t least, std::uint64_t trials, double each) {
    double sum = 0;
    double ways = 1;  // to choose `count` of the trials
    for (std::uint64_t count = 0; count <= trials; ++count) {
        if (count >= least)
            sum += ways * std::pow(each, static_cast<double>(count)) *
                   std::pow(1 - each, static_cast<double>(trials - count));
        ways *= static_cast<double>(trials - count) / static_cast<double>(count + 1);
    }
    return sum;
}

std::vector<use_difference> differences_of(const counts& slow, std::uint64_t of_slow,
                                           const counts& median, std::uint64_t of_median) {
    std::vector<use_difference> found;
    for (const auto& [index, count] : slow) {
        const auto other = median.find(index);
        const std::uint64_t less = other == median.end() ? 0 : other->second;
        const double slow_share = static_cast<double>(count) / static_cast<double>(of_slow);
        const double median_share = static_cast<double>(less) / static_cast<double>(of_median);
        // One more median request on the thread, and one elsewhere: few requests prove little.
        const double expected = static_cast<double>(less + 1) / static_cast<double>(of_median + 2);
        if (is_typical_of_slow(slow_share, median_share) &&
            at_least(count, of_slow, expected) * static_cast<double>(slow.size()) < most_by_chance)
            found.push_back({index, slow_share, median_share});
    }
    sort_by_share(found);
    return found;
}

}  // namespace

group_uses uses_of(const trace& loaded, std::span<const critical_path> paths, std::size_t slow) {
    const group_counts of_slow = counts_of(loaded, paths.first(slow));
    const group_counts of_median = counts_of(loaded, paths.subspan(slow));
    return {differences_of(of_slow.threads, of_slow.paths, of_median.threads, of_median.paths),
            differences_of(of_slow.executors, of_slow.paths, of_median.executors, of_median.paths)};
}

}  // namespace coroscope::analysis::inline paths
