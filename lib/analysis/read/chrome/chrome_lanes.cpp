// SPDX-License-Identifier: Apache-2.0
#include "chrome_lanes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace coroscope::analysis::inline chrome {

/// Returns the lane, to which a mark at that time will be added.
chrome_lanes::lane_marks& chrome_lanes::at(std::uint32_t number, std::int64_t time_ns) {
    if (number >= lanes_.size()) lanes_.resize(number + std::size_t{1});
    lane_marks& lane = lanes_[number];
    if (!lane.falls && time_ns < lane.last_ns) {
        lane.falls = true;
        lane.early = lane.marks.size();
    }
    lane.last_ns = time_ns;
    return lane;
}

void chrome_lanes::begin(std::uint32_t number, std::int64_t time_ns, std::uint32_t row) {
    lane_marks& lane = at(number, time_ns);
    if (lane.falls) {
        lane.marks.push_back({time_ns, row});
        return;
    }
    lane.open.push_back(row);
    began_.resize(row + std::size_t{1});
    began_[row] = true;
}

std::uint32_t chrome_lanes::end(std::uint32_t number, std::int64_t time_ns) {
    lane_marks& lane = at(number, time_ns);
    if (lane.falls || lane.open.empty()) {
        lane.marks.push_back({time_ns, none});
        return none;
    }
    const std::uint32_t row = lane.open.back();
    lane.open.pop_back();
    return row;
}

bool chrome_lanes::sort_out(event_list& list) {
    const bool any = std::any_of(lanes_.begin(), lanes_.end(),
                                 [](const lane_marks& each) { return each.falls; });
    if (any) recall(list);
    for (lane_marks& each : lanes_) {
        if (each.falls)
            pair(list, each);
        else
            each.stray = each.marks.size();
        stray_ += each.stray;
    }
    return any;
}

/// Turns the pairs that were made before a lane's times fell back into marks, in time order. At
/// equal times ends come first. Rows without a length are paired correctly and stay.
void chrome_lanes::recall(event_list& list) {
    std::vector<std::vector<mark>> early(lanes_.size());
    for (std::uint32_t row = 0; row < began_.size(); ++row) {
        event_row& each = list.rows[row];
        if (!began_[row] || !lanes_[each.thread].falls) continue;
        const auto& open = lanes_[each.thread].open;  // by row
        const bool ended = !std::binary_search(open.begin(), open.end(), row);
        if (ended && each.end_ns == each.start_ns) continue;
        if (ended) early[each.thread].push_back({each.end_ns, none});
        early[each.thread].push_back({each.start_ns, row});
        each.end_ns = each.start_ns;
    }
    for (std::size_t number = 0; number < lanes_.size(); ++number) {
        lane_marks& lane = lanes_[number];
        if (!lane.falls) continue;
        lane.open.clear();
        std::vector<mark>& marks = early[number];
        const auto seen = lane.marks.begin() + static_cast<std::ptrdiff_t>(lane.early);
        marks.insert(marks.end(), lane.marks.begin(), seen);
        lane.marks.erase(lane.marks.begin(), seen);
        std::stable_sort(marks.begin(), marks.end(), [](const mark& left, const mark& right) {
            return std::tuple(left.time_ns, !left.is_end()) <
                   std::tuple(right.time_ns, !right.is_end());
        });
        lane.marks.insert(lane.marks.begin(), marks.begin(), marks.end());
        marks = {};
    }
}

// Marks of one time may be the end of one event and the beginning of the next, or an event without
// a length. A B and the next E of the lane in the file are an event without a length; such pairs
// may nest. Of the other marks, ends come before beginnings: an end ends an earlier event if one is
// open, else an event that begins before it in the file. A lane whose times never rise was written
// backwards, so it is read backwards.
void chrome_lanes::pair(event_list& list, lane_marks& lane) {
    const auto by_time = [](const mark& left, const mark& right) {
        return left.time_ns < right.time_ns;
    };
    std::vector<mark>& marks = lane.marks;
    if (std::is_sorted(marks.rbegin(), marks.rend(), by_time))
        std::reverse(marks.begin(), marks.end());
    std::size_t kept = 0;
    for (const mark each : marks) {
        const bool ends_last = each.is_end() && kept > 0 && !marks[kept - 1].is_end() &&
                               marks[kept - 1].time_ns == each.time_ns;
        if (ends_last)
            --kept;  // the end of its row is already its start
        else
            marks[kept++] = each;
    }
    marks.resize(kept);
    std::stable_sort(marks.begin(), marks.end(), by_time);
    for (std::size_t from = 0; from < kept;) {
        std::size_t to = from;
        while (to < kept && marks[to].time_ns == marks[from].time_ns) ++to;
        pair_moment(list, lane, from, to);
        from = to;
    }
    marks = {};
}

/// Pairs the marks of one time, which are those from `from` to `to`, in file order.
void chrome_lanes::pair_moment(event_list& list, lane_marks& lane, std::size_t from,
                               std::size_t to) {
    std::size_t ends = 0;
    for (std::size_t at = from; at < to; ++at) ends += lane.marks[at].is_end() ? 1 : 0;
    const std::size_t of_earlier = std::min(ends, lane.open.size());
    for (std::size_t each = 0; each < of_earlier; ++each) {
        list.rows[lane.open.back()].end_ns = lane.marks[from].time_ns;
        lane.open.pop_back();
    }
    const std::size_t earlier = lane.open.size();
    std::size_t passed = 0;
    for (std::size_t at = from; at < to; ++at) {
        const mark& each = lane.marks[at];
        if (!each.is_end())
            lane.open.push_back(each.row);
        else if (passed < of_earlier)
            ++passed;
        else if (lane.open.size() > earlier)
            lane.open.pop_back();
        else
            ++lane.stray;
    }
}

void chrome_lanes::append_open(std::vector<std::uint32_t>& rows) const {
    for (const lane_marks& each : lanes_)
        rows.insert(rows.end(), each.open.begin(), each.open.end());
}

}  // namespace coroscope::analysis::inline chrome
