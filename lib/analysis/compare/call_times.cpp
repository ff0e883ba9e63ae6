// SPDX-License-Identifier: Apache-2.0

// Two runs of one program differ because the machine disturbs them differently. A single run shows
// how much in two ways, and both are added:
//
// - between its parts: the conditions may change from run to run as much as from part to part. The
//   variance is not divided by the number of parts, because a run may have one condition
//   throughout.
// - between its fast calls: work that uses caches is disturbed in almost every call, also if the
//   condition is the same in all parts. The spread is that of neighbouring percentiles, so that
//   calls with different work, as by their input, do not count as disturbed.

#include "call_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace coroscope::analysis::inline compare {
namespace {

constexpr double low_share = 0.1;
constexpr std::size_t most_parts = 10;
constexpr std::size_t fewest_parts = 3;
constexpr std::size_t calls_of_part = 8;  // the fewest of which the tenth percentile is no minimum

// A pair of percentiles, and their distance in standard deviations of a normal distribution.
struct percentile_pair {
    double low;
    double high;
    double deviations;
};
constexpr std::array<percentile_pair, 3> neighbours{
    {{0.02, 0.05, 0.409}, {0.05, 0.10, 0.363}, {0.10, 0.20, 0.440}}};
constexpr double sorted_share = 0.2;

// Measured on a busy machine: runs of scopes whose fast calls deviate by 2 % deviate by 2 to 3 %,
// those of scopes that wait for memory, with 10 to 15 %, by 20 to 45 %.
constexpr double excess = 5;

/// Interpolated between the two nearest ranks. `times` must be sorted up to that percentile.
double percentile(std::span<const std::int64_t> times, double share) {
    const double rank = static_cast<double>(times.size() - 1) * share;
    const auto at = static_cast<std::size_t>(rank);
    const auto here = static_cast<double>(times[at]);
    if (at + 1 == times.size()) return here;
    return here + (rank - static_cast<double>(at)) * (static_cast<double>(times[at + 1]) - here);
}

/// Sorts the times up to that percentile.
void sort_up_to(std::span<std::int64_t> times, double share) {
    const auto end = std::min(
        times.size(), static_cast<std::size_t>(static_cast<double>(times.size()) * share) + 2);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(end);
    if (end < times.size()) std::ranges::nth_element(times, middle);
    std::sort(times.begin(), middle);
}

double logarithm(double time_ns) { return std::log(std::max(time_ns, 1.0)); }

/// The variance between the parts of the run.
double variance_of_parts(std::span<std::int64_t> times, std::size_t parts) {
    double sum = 0;
    double squares = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t from = part * times.size() / parts;
        const std::size_t to = (part + 1) * times.size() / parts;
        const std::span<std::int64_t> calls = times.subspan(from, to - from);
        sort_up_to(calls, low_share);
        const double low = logarithm(percentile(calls, low_share));
        sum += low;
        squares += low * low;
    }
    const auto count = static_cast<double>(parts);
    return std::max(0.0, (squares - sum * sum / count) / (count - 1));
}

/// The variance between the fast calls: the median of three estimates, because a step between two
/// kinds of calls may be in one of the pairs.
double variance_of_calls(std::span<const std::int64_t> times) {
    std::array<double, neighbours.size()> deviations{};
    for (std::size_t at = 0; at < neighbours.size(); ++at) {
        const percentile_pair& pair = neighbours[at];
        deviations[at] =
            (logarithm(percentile(times, pair.high)) - logarithm(percentile(times, pair.low))) /
            pair.deviations;
    }
    std::ranges::sort(deviations);
    const double deviation = deviations[1] * (1 + excess * deviations[1]);
    return deviation * deviation;
}

/// The median of the steps between times that differ by more than the rounding to nanoseconds.
double resolution_of(std::span<const std::int64_t> sorted) {
    constexpr std::size_t enough_steps = 8;
    std::vector<std::int64_t> steps;
    for (std::size_t at = 1; at < sorted.size(); ++at)
        if (sorted[at] - sorted[at - 1] > 1) steps.push_back(sorted[at] - sorted[at - 1]);
    if (steps.size() < enough_steps) return 0;
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::ranges::nth_element(steps, middle);
    return static_cast<double>(*middle);
}

}  // namespace

call_times call_times_of(std::vector<std::int64_t>& times_ns) {
    call_times found;
    found.count = times_ns.size();
    if (times_ns.empty()) return found;
    const std::size_t parts = std::min(most_parts, times_ns.size() / calls_of_part);
    if (parts >= fewest_parts) {
        found.variance = variance_of_parts(times_ns, parts);
        found.parts = static_cast<std::uint32_t>(parts);
    }
    sort_up_to(times_ns, sorted_share);
    found.low_ns = percentile(times_ns, low_share);
    found.variance += variance_of_calls(times_ns);
    const auto sorted =
        static_cast<std::size_t>(static_cast<double>(times_ns.size()) * sorted_share);
    found.resolution_ns = resolution_of(std::span(times_ns).first(sorted));
    return found;
}

}  // namespace coroscope::analysis::inline compare
