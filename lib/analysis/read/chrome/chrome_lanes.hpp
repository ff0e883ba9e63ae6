// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pairs B and E events of each lane. Usually they come in time order, and an E ends the event that
// began last. The format does not require that order: if a time is smaller than the one before, the
// lane is sorted and paired after the whole file was read.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline chrome {

class chrome_lanes {
public:
    /// Adds a B. `row` is the row of its event, whose start is already set.
    void begin(std::uint32_t lane, std::int64_t time_ns, std::uint32_t row);
    /// Adds an E and returns the row of the event that it ends. Returns `none` if no event is open,
    /// or if the lane must be sorted first.
    std::uint32_t end(std::uint32_t lane, std::int64_t time_ns);

    /// Sets the ends of rows on lanes that must be sorted. Must be called once, after the last
    /// event. Returns false if there is no such lane.
    bool sort_out(event_list& list);
    /// Appends the rows without an end to `rows`. Call it after sort_out().
    void append_open(std::vector<std::uint32_t>& rows) const;
    /// The number of ends without a beginning. Call it after sort_out().
    [[nodiscard]] std::uint64_t ends_without_beginning() const { return stray_; }

private:
    /// A beginning, or an end. An end has no row.
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
    std::vector<bool> began_;  // by row: its B came before its lane's times fell
    std::uint64_t stray_ = 0;
};

}  // namespace coroscope::analysis::inline chrome
