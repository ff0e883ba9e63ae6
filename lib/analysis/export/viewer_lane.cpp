// SPDX-License-Identifier: Apache-2.0
#include "viewer_lane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coroscope::analysis::inline exports {
namespace {

constexpr double nanoseconds_per_microsecond = 1000;
constexpr double tenths_per_microsecond = 10'000;
constexpr double tenth_of_a_nanosecond_us = 0.0001;
constexpr double most_difference_us =
    0.0003;  // with a tenth of a nanosecond more, still rounds to the same one

// Returns the double that a viewer reads: the nearest one to the decimal in the file.
double microseconds(std::int64_t ns) {
    return static_cast<double>(ns) / nanoseconds_per_microsecond;
}

/// Returns the greatest length for which `start + length`, in doubles, is not greater than `end`.
double length_until(double start, double end) {
    constexpr int most_steps = 8;
    constexpr double endless = std::numeric_limits<double>::infinity();
    double length = end - start;
    for (int step = 0; step < most_steps && start + length > end; ++step)
        length = std::nextafter(length, -endless);
    for (int step = 0; step < most_steps; ++step) {
        const double longer = std::nextafter(length, endless);
        if (start + longer > end) break;
        length = longer;
    }
    return length;
}

/// Returns the length of a bar that ends at `end` or a little before it, both in viewers that add
/// the length to the absolute start and in those that subtract the lane's first time before.
/// Returns `written` if it ends exactly at `end` in both, or if doubles are too coarse for single
/// nanoseconds.
double length_to(const viewer_moment& start, const viewer_moment& end, double written) {
    if (start.absolute_us + written == end.absolute_us &&
        start.relative_us + written == end.relative_us)
        return written;
    const double length = std::min(length_until(start.absolute_us, end.absolute_us),
                                   length_until(start.relative_us, end.relative_us));
    return std::abs(length - written) < most_difference_us ? length : written;
}

}  // namespace

viewer_times viewer_lane::take_moment(std::int64_t time_ns) noexcept {
    first_ns_ = std::min(first_ns_, time_ns);
    return {false, tenth_of_a_nanosecond_us};
}

void viewer_lane::close_until(std::int64_t time_ns) {
    if (ended_ns_ != time_ns) ended_.clear();
    while (!open_.empty() && open_.back().end_ns <= time_ns) {
        if (open_.back().end_ns == time_ns) {
            ended_.push_back(open_.back().name);
            ended_ns_ = time_ns;
        }
        open_.pop_back();
    }
}

viewer_times viewer_lane::times_of(const span& what, bool follows) noexcept {
    constexpr double tenths = 10;
    first_ns_ = std::min(first_ns_, what.start_ns);
    if (follows) shifted_ns_ = what.start_ns;
    const double first = microseconds(first_ns_);
    const auto moment = [&](double absolute_us) {
        return viewer_moment{absolute_us, absolute_us - first};
    };
    const bool ends_with_outer = !open_.empty() && open_.back().end_ns == what.end_ns;
    const viewer_moment end =
        ends_with_outer ? open_.back().end : moment(microseconds(what.end_ns));
    viewer_moment start = moment(microseconds(what.start_ns));
    double written = microseconds(what.end_ns - what.start_ns);
    if (follows) {
        start = moment((static_cast<double>(what.start_ns) * tenths + 1) / tenths_per_microsecond);
        written = (static_cast<double>(what.end_ns - what.start_ns) * tenths - 1) /
                  tenths_per_microsecond;
    }
    const bool has_length = what.end_ns != what.start_ns;
    const double length = has_length ? length_to(start, end, written) : tenth_of_a_nanosecond_us;
    end_ = {start.absolute_us + length, start.relative_us + length};
    const bool is_plain = !follows && has_length && length == written;
    return {follows, is_plain ? 0 : length};
}

}  // namespace coroscope::analysis::inline exports
