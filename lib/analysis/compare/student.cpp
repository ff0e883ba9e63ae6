// SPDX-License-Identifier: Apache-2.0
#include "student.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace coroscope::analysis::inline compare {
namespace {

constexpr double most_freedom = 300;  // above it, t is the normal distribution to within 0.5 %

/// The probability above t = sqrt(freedom) tan(angle): an integral of cos(x)^(freedom - 1), by
/// Simpson's rule.
double tail_above(double angle, double freedom) {
    constexpr int steps = 100;  // even
    const double width = (std::numbers::pi / 2 - angle) / steps;
    const auto density = [&](int step) {
        // At the end of the range the cosine may be negative by rounding.
        return std::pow(std::max(std::cos(angle + step * width), 0.0), freedom - 1);
    };
    double sum = density(0) + density(steps);
    for (int step = 1; step < steps; ++step) sum += density(step) * (step % 2 == 1 ? 4 : 2);
    const double scale = std::exp(std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2)) /
                         std::sqrt(std::numbers::pi);
    return scale * sum * width / 3;
}

}  // namespace

double student_quantile(double tail, double freedom) {
    freedom = std::clamp(freedom, 1.0, most_freedom);
    double low = 0;
    double high = std::numbers::pi / 2;
    for (int step = 0; step < 40; ++step) {
        const double middle = (low + high) / 2;
        (tail_above(middle, freedom) > tail ? low : high) = middle;
    }
    return std::sqrt(freedom) * std::tan(low);
}

}  // namespace coroscope::analysis::inline compare
