// SPDX-License-Identifier: Apache-2.0
#include "pack_times.hpp"

#include <algorithm>

namespace coroscope::trace {
namespace {

constexpr std::size_t fewest_differences =
    64;  // from fewer differences the step of a clock cannot be found
// At most one difference in so many may be no multiple of the step: the clocks of processors may
// differ, and threads move between processors.
constexpr std::size_t most_outliers = 8;

struct steps {
    std::uint64_t whole;
    std::uint64_t rest;
};

// Rounded down, so that the remainder has no sign.
steps divide(std::uint64_t value, time_form form, std::uint64_t step) {
    if (form == time_form::durations) return {value / step, value % step};
    const std::uint64_t difference = unzigzag(value);
    if (difference >> 63 == 0) return {zigzag(difference / step), difference % step};
    // The number of steps, rounded up in magnitude: the quotient of a negative difference is
    // rounded down.
    const std::uint64_t below = (0 - difference + step - 1) / step;
    return {zigzag(0 - below), difference + below * step};
}

}  // namespace

std::uint64_t clock_step(std::span<const std::uint64_t> folded_differences) {
    column distances;
    for (const std::uint64_t each : folded_differences) {
        const std::uint64_t difference = unzigzag(each);
        if (difference != 0) distances.push_back(std::min(difference, 0 - difference));
    }
    if (distances.size() < fewest_differences) return 1;
    for (std::uint64_t step = longest_clock_step; step > 1; --step) {
        const auto others = std::count_if(distances.begin(), distances.end(),
                                          [step](std::uint64_t each) { return each % step != 0; });
        if (static_cast<std::size_t>(others) <= distances.size() / most_outliers) return step;
    }
    return 1;
}

void write_times(column_writer& to, const column& values, time_form form, std::uint64_t step) {
    if (step <= 1) return to.numbers(values);
    column wholes;
    column rests;
    wholes.reserve(values.size());
    rests.reserve(values.size());
    for (const std::uint64_t each : values) {
        const steps divided = divide(each, form, step);
        wholes.push_back(divided.whole);
        rests.push_back(divided.rest);
    }
    to.numbers(wholes);
    to.numbers(rests);
}

bool read_times(column_reader& from, column& to, std::size_t count, time_form form,
                std::uint64_t step) {
    if (!from.numbers(to, count)) return false;
    if (step <= 1) return true;
    column rests;
    if (!from.numbers(rests, count)) return false;
    for (std::size_t at = 0; at < count; ++at)
        to[at] = form == time_form::durations ? to[at] * step + rests[at]
                                              : zigzag(unzigzag(to[at]) * step + rests[at]);
    return true;
}

}  // namespace coroscope::trace
