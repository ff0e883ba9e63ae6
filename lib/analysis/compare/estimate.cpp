// SPDX-License-Identifier: Apache-2.0

// With one run a side, the variance between runs is assumed to be the one that each run shows
// itself (call_times.cpp), plus a least variance. With several runs a side, it is the variance
// between the runs of a side. Two or three runs show their variance badly, so the assumed one is
// added to it with a fixed weight, as if it had been found from further runs. If the runs of most
// noisy rows differ less than assumed, the assumption is scaled down for all of them.

#include "estimate.hpp"

#include <algorithm>
#include <cmath>

namespace coroscope::analysis::inline compare {
namespace {

// The least deviation between two runs. The place of code and data in memory and the frequency of
// the processor change all times by about 1 %. Times between tasks also contain delays of other
// threads and of the kernel's timers.
constexpr double least_deviation_of_scopes = 0.01;
constexpr double least_deviation_of_waits = 0.03;

constexpr double weight_of_assumption = 6;  // degrees of freedom

// Mean times in a queue below this are the hand-over between two threads.
constexpr double least_queued_ns = 1000;

double square(double number) { return number * number; }

double low_ns_of(const row_in_run& of, times_of_row times) {
    const double least_ns = of.row->measured == compared_time::queued ? least_queued_ns : 1;
    return std::max((of.row->*times).low_ns, least_ns);
}

/// The upper one of the two in the middle. `numbers` must not be empty.
double median_of(std::vector<double>& numbers) {
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::ranges::nth_element(numbers, middle);
    return *middle;
}

/// The variance between runs that one run lets us assume.
struct assumption {
    double fixed = 0;  ///< the least variance
    double shown = 0;  ///< that the run itself shows
    double parts = 0;

    [[nodiscard]] double variance() const { return fixed + shown; }
    /// The part of the uncertainty of a sum of variances: only what the run shows is uncertain.
    [[nodiscard]] double uncertainty() const { return square(shown) / std::max(1.0, parts - 1); }
};

assumption assume(const row_in_run& of, times_of_row times, double cost_difference_ns) {
    constexpr double usual_resolution_ns = 10;
    const call_times& time = of.row->*times;
    const bool is_scope = of.row->kind == compared_kind::scope;
    const double resolution_ns =
        of.run->resolution_ns != 0 ? of.run->resolution_ns : usual_resolution_ns;
    const double recorder_ns = is_scope ? cost_difference_ns * (1 + of.row->inner_per_call) : 0;
    const double fixed = square(is_scope ? least_deviation_of_scopes : least_deviation_of_waits) +
                         square((resolution_ns + recorder_ns) / low_ns_of(of, times));
    return {fixed, time.variance, static_cast<double>(time.parts)};
}

double mean_scope_cost_ns(const row_in_runs& runs) {
    double sum = 0;
    for (const row_in_run& each : runs) sum += each.run->scope_cost_ns;
    return sum / static_cast<double>(runs.size());
}

/// The assumptions of all runs, or none if a run has too few calls.
std::vector<assumption> assumptions(const row_in_runs& before, const row_in_runs& after,
                                    times_of_row times) {
    const double cost_ns = std::abs(mean_scope_cost_ns(before) - mean_scope_cost_ns(after));
    std::vector<assumption> found;
    for (const row_in_runs* side : {&before, &after}) {
        for (const row_in_run& each : *side) {
            if ((each.row->*times).parts == 0) return {};
            found.push_back(assume(each, times, cost_ns));
        }
    }
    return found;
}

/// A single disturbed run must not spoil the assumption, so it is the median.
assumption middle_of(std::vector<assumption>& assumed) {
    const auto middle = assumed.begin() + static_cast<std::ptrdiff_t>(assumed.size() / 2);
    std::ranges::nth_element(assumed, middle, {}, &assumption::variance);
    return *middle;
}

double mean_logarithm(const row_in_runs& runs, times_of_row times) {
    double sum = 0;
    for (const row_in_run& each : runs) sum += std::log(low_ns_of(each, times));
    return sum / static_cast<double>(runs.size());
}

/// The degrees of freedom of the variance that several runs a side show; 0: one run a side.
double measured_freedom(const row_in_runs& before, const row_in_runs& after) {
    return static_cast<double>(before.size() + after.size()) - 2;
}

double measured_variance(const row_in_runs& before, const row_in_runs& after, times_of_row times) {
    double squares = 0;
    for (const row_in_runs* side : {&before, &after}) {
        const double mean = mean_logarithm(*side, times);
        for (const row_in_run& each : *side)
            squares += square(std::log(low_ns_of(each, times)) - mean);
    }
    return squares / measured_freedom(before, after);
}

estimate from_one_run(double change, const assumption& before, const assumption& after) {
    const double variance = before.variance() + after.variance();
    return {change, std::sqrt(variance),
            square(variance) / (before.uncertainty() + after.uncertainty())};
}

estimate from_runs(double change, double measured, double freedom, const row_in_runs& before,
                   const row_in_runs& after) {
    const double runs =
        1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size());
    return {change, std::sqrt(measured * runs), freedom};
}

}  // namespace

std::optional<double> spread_ratio(const row_in_runs& before, const row_in_runs& after,
                                   times_of_row times) {
    constexpr double noisy = 4;
    if (measured_freedom(before, after) == 0) return std::nullopt;
    std::vector<assumption> assumed = assumptions(before, after, times);
    if (assumed.empty()) return std::nullopt;
    const assumption middle = middle_of(assumed);
    if (middle.shown < noisy * middle.fixed) return std::nullopt;
    return measured_variance(before, after, times) / middle.variance();
}

double common_scale(std::vector<double> ratios) {
    constexpr std::size_t fewest_rows = 5;
    constexpr double median_of_four = 0.84;  // of a variance with four degrees of freedom
    constexpr double least = 0.02;
    if (ratios.size() < fewest_rows) return 1;
    return std::clamp(median_of(ratios) / median_of_four, least, 1.0);
}

std::optional<estimate> estimate_change(const row_in_runs& before, const row_in_runs& after,
                                        times_of_row times, double scale) {
    const double change = mean_logarithm(after, times) - mean_logarithm(before, times);
    std::vector<assumption> assumed = assumptions(before, after, times);
    const double freedom = measured_freedom(before, after);
    if (freedom == 0) {
        if (assumed.empty()) return std::nullopt;
        return from_one_run(change, assumed[0], assumed[1]);
    }
    const double measured = measured_variance(before, after, times);
    if (assumed.empty()) {
        estimate found = from_runs(change, measured, freedom, before, after);
        // Two equal runs must not seem certain.
        found.error = std::max(found.error, least_deviation_of_waits);
        return found;
    }
    const assumption middle = middle_of(assumed);
    const double assumed_variance = middle.fixed + scale * middle.shown;
    const double mixed = (weight_of_assumption * assumed_variance + freedom * measured) /
                         (weight_of_assumption + freedom);
    return from_runs(change, std::max(measured, mixed), weight_of_assumption + freedom, before,
                     after);
}

double shown_variance(const row_in_runs& before, const row_in_runs& after, times_of_row times) {
    std::vector<double> variances;
    for (const row_in_runs* side : {&before, &after})
        for (const row_in_run& each : *side) variances.push_back((each.row->*times).variance);
    return median_of(variances);
}

double median_low_ns(const row_in_runs& runs, times_of_row times) {
    std::vector<double> lows;
    for (const row_in_run& each : runs) lows.push_back((each.row->*times).low_ns);
    return median_of(lows);
}

}  // namespace coroscope::analysis::inline compare
