// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts ticks to nanoseconds since the session's start. The map is piecewise linear between the
// clock points, uses integers, and never decreases. Outside the points the nearest piece is
// extended.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <coroscope/trace/format.hpp>

namespace coroscope::analysis::inline records {

class clock_map {
public:
    /// `points` may come in any order. A point that contradicts an earlier one is ignored. With
    /// fewer than two usable points a tick counts as a nanosecond.
    explicit clock_map(std::vector<coroscope::trace::clock_point> points);

    /// Returns nanoseconds since the first point, from 0 to limit_ns(). Fastest if ticks ascend
    /// from call to call.
    [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) {
        if (ticks - current_.first_ticks >= current_.length_ticks) [[unlikely]]
            select(ticks);
        return within(current_, ticks);
    }

    /// The same, but negative for ticks before the first point.
    [[nodiscard]] std::int64_t to_signed_ns(std::uint64_t ticks);

    /// Sets the greatest result of to_ns(). Initially it is far in the future.
    void set_limit_ns(std::int64_t limit_ns) { limit_ns_ = limit_ns; }
    [[nodiscard]] std::int64_t limit_ns() const { return limit_ns_; }

    /// Returns the length of `ticks` ticks in nanoseconds, by the mean rate.
    [[nodiscard]] double span_ns(double ticks) const { return ticks * mean_rate_; }
    /// The same in whole nanoseconds, at most far_ns.
    [[nodiscard]] std::int64_t whole_span_ns(std::uint64_t ticks) const {
        return static_cast<std::int64_t>(
            std::min(span_ns(static_cast<double>(ticks)), static_cast<double>(far_ns)));
    }

    [[nodiscard]] std::uint64_t start_ticks() const { return start_ticks_; }

    /// The last clock point, in nanoseconds since the first.
    [[nodiscard]] std::int64_t last_point_ns() const { return last_point_ns_; }

    /// Returns false if the rate is unknown, so that a tick counts as a nanosecond.
    [[nodiscard]] bool calibrated() const { return calibrated_; }

private:
    struct piece {
        std::uint64_t first_ticks = 0;
        std::uint64_t length_ticks = ~std::uint64_t{0};
        std::int64_t first_ns = 0;
        std::uint64_t rate = 0;  // nanoseconds per tick times 2^rate_shift, rounded up
    };
    static constexpr unsigned rate_shift = 48;
    static constexpr std::int64_t far_ns = std::int64_t{1} << 61;  // sums of two times fit int64

    __extension__ using wide = unsigned __int128;

    // Precondition: `ticks` is in the piece, which is at most far_ns long.
    [[nodiscard]] std::int64_t within(const piece& here, std::uint64_t ticks) const {
        const wide nanoseconds =
            (static_cast<wide>(ticks - here.first_ticks) * here.rate) >> rate_shift;
        const std::int64_t moment = here.first_ns + static_cast<std::int64_t>(nanoseconds);
        return moment < limit_ns_ ? moment : limit_ns_;
    }
    // Returns the greatest number of ticks that are at most far_ns long at this rate.
    [[nodiscard]] static std::uint64_t ticks_until_far(std::uint64_t rate) {
        const wide most = rate == 0 ? ~wide{0} : (wide{far_ns} << rate_shift) / rate;
        return most < ~std::uint64_t{0} ? static_cast<std::uint64_t>(most) : ~std::uint64_t{0};
    }
    void end_last_piece();
    void select(std::uint64_t ticks);

    std::vector<piece> pieces_;
    piece current_;
    std::uint64_t start_ticks_ = 0;
    std::int64_t last_point_ns_ = 0;
    std::int64_t limit_ns_ = far_ns;
    double mean_rate_ = 1;
    bool calibrated_ = false;
};

}  // namespace coroscope::analysis::inline records
