// SPDX-License-Identifier: Apache-2.0
#pragma once

// B and E events by lane. Mostly they come in time order, and an E ends what began last. The format does not ask for
// it, though: a lane whose times fall is sorted and paired when all of it was read.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::reading {

class chrome_lanes {
public:
    /// `row`: the event's, whose start is known.
    void begin(std::uint32_t lane, std::int64_t time_ns, std::uint32_t row);
    /// The row that ends there; `none` where there is none, or where it is not known yet.
    std::uint32_t end(std::uint32_t lane, std::int64_t time_ns);

    /// After the last event: the ends of the rows of lanes whose times fall. False where there is no such lane.
    bool sort_out(event_list& list);
    /// After that: rows without an end are put behind `rows`.
    void append_open(std::vector<std::uint32_t>& rows) const;
    /// After that: ends that have no row.
    [[nodiscard]] std::uint64_t ends_without_beginning() const { return stray_; }

private:
    /// A beginning, or an end, whose row is none.
    struct mark {
        std::int64_t time_ns = 0;
        std::uint32_t row = none;
        [[nodiscard]] bool is_end() const { return row == none; }
    };
    struct lane_marks {
        std::vector<std::uint32_t> open;  // rows
        std::vector<mark>
            marks;  // ends without a beginning; once times have fallen, all that follows
        std::int64_t last_ns = INT64_MIN;
        std::size_t early = 0;    // marks from before that
        std::uint64_t stray = 0;  // ends without a beginning
        bool falls = false;
    };

    lane_marks& at(std::uint32_t number, std::int64_t time_ns);
    void recall(event_list& list);
    static void pair(event_list& list, lane_marks& lane);
    static void pair_moment(event_list& list, lane_marks& lane, std::size_t from, std::size_t to);

    std::vector<lane_marks> lanes_;
    std::vector<bool> began_;  // by row: of a B, on a lane whose times had not fallen
    std::uint64_t stray_ = 0;
};

}  // namespace coroscope::analysis::reading
