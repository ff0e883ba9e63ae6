// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the times of complete events ("X") so that viewers nest the events as they were recorded.
// Viewers compute in doubles of microseconds, and each has rules of its own: speedscope subtracts
// the lane's first time from each time and adds durations. The rounded end of an event can then lie
// before or after the beginning of the next event, although both are in the same nanosecond, and
// the next event nests in the first one. If an end and a beginning have the same time and the same
// name, speedscope opens the new event first. It never closes an event of no length that begins
// together with a longer one. DevTools adds the durations to the written times, and leaves out an
// event that ends after the event around it. Therefore a duration may have more than three decimals
// here, and a time or a duration may be a tenth of a nanosecond longer. Rounded to nanoseconds, all
// times are exact.

#include <cstdint>
#include <vector>

#include "../view/timeline/canvas.hpp"

namespace coroscope::analysis::inline exports {

/// The times of an event as an export must write them.
struct viewer_times {
    bool later = false;      ///< it begins a tenth of a nanosecond later than its nanosecond
    double duration_us = 0;  ///< length to write; 0: its whole nanoseconds
};

/// A time in microseconds, as viewers compute it.
struct viewer_moment {
    double absolute_us = 0;  ///< as written
    double relative_us = 0;  ///< since the lane's first time
};

/// The bars on one lane so far.
class viewer_lane {
public:
    /// Adds a moment. Moments must come before the bars, in any order of time.
    viewer_times take_moment(std::int64_t time_ns) noexcept;

    /// Returns the times of the next bar. Bars must come by (start ascending, end descending).
    /// `is_same(name)` must return whether `name`, the name of an earlier bar, is the name of this
    /// bar.
    template <class IsSame>
    viewer_times take(const span& what, std::uint32_t name, const IsSame& is_same) {
        close_until(what.start_ns);
        bool follows = shifted_ns_ == what.start_ns;
        for (const std::uint32_t each : ended_) follows = follows || is_same(each);
        const viewer_times times = times_of(what, follows);
        open_.push_back({what.end_ns, end_, name});
        return times;
    }

private:
    struct open_bar {
        std::int64_t end_ns;
        viewer_moment end;
        std::uint32_t name;
    };

    void close_until(std::int64_t time_ns);
    [[nodiscard]] viewer_times times_of(const span& what, bool follows) noexcept;

    std::int64_t first_ns_ = latest_ns;
    std::int64_t shifted_ns_ = -1;  ///< an event that begins at this time is written as later
    std::int64_t ended_ns_ = -1;
    viewer_moment end_;                 ///< end of the last bar
    std::vector<open_bar> open_;        ///< innermost last
    std::vector<std::uint32_t> ended_;  ///< names of the events that ended at ended_ns_
};

}  // namespace coroscope::analysis::inline exports
