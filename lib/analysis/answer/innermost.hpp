// SPDX-License-Identifier: Apache-2.0
#pragma once

// The innermost of nested intervals at each moment.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <coroscope/analysis/index_range.hpp>

namespace coroscope::analysis::inline answers {

/// Intervals that nest, such as the scopes of a task or the slices on a thread.
class innermost_intervals {
public:
    /// Intervals must come by (start ascending, end descending).
    void add(std::uint32_t index, std::int64_t start_ns, std::int64_t end_ns) {
        close_until(start_ns);
        open_.push_back({index, end_ns});
        change(start_ns, index);
    }

    /// Must be called after the last add().
    void finish() { close_until(INT64_MAX); }

    /// Calls visit(from_ns, to_ns, index) for each piece of a time, in order and without gaps. The
    /// index is `none` if no interval is around the piece.
    template <class Visit>
    void for_each_piece(std::int64_t from_ns, std::int64_t to_ns, Visit visit) const {
        auto next = std::ranges::upper_bound(changes_, from_ns, {}, &moment::time_ns);
        std::uint32_t current = next == changes_.begin() ? none : std::prev(next)->index;
        for (; next != changes_.end() && next->time_ns < to_ns; ++next) {
            if (next->time_ns > from_ns && next->index != current) {
                visit(from_ns, next->time_ns, current);
                from_ns = next->time_ns;
            }
            current = next->index;
        }
        if (from_ns < to_ns) visit(from_ns, to_ns, current);
    }

    /// A piece, from its start to the next one or to the end of time.
    struct piece {
        std::int64_t from_ns;
        std::uint32_t index;  ///< none: no interval
    };

    /// Returns the piece just before a time.
    [[nodiscard]] piece piece_before(std::int64_t time_ns) const {
        const auto next = std::ranges::lower_bound(changes_, time_ns, {}, &moment::time_ns);
        if (next == changes_.begin()) return {INT64_MIN, none};
        return {std::prev(next)->time_ns, std::prev(next)->index};
    }

private:
    struct moment {
        std::int64_t time_ns;
        std::uint32_t index;  // the innermost interval from then on
    };
    struct interval {
        std::uint32_t index;
        std::int64_t end_ns;
    };

    void close_until(std::int64_t time_ns) {
        while (!open_.empty() && open_.back().end_ns <= time_ns) {
            const std::int64_t end_ns = open_.back().end_ns;
            open_.pop_back();
            change(end_ns, open_.empty() ? none : open_.back().index);
        }
    }

    // In damaged traces an interval may end after the one around it: times never go back.
    void change(std::int64_t time_ns, std::uint32_t index) {
        if (!changes_.empty()) time_ns = std::max(time_ns, changes_.back().time_ns);
        changes_.push_back({time_ns, index});
    }

    std::vector<moment> changes_;  // by time
    std::vector<interval> open_;
};

}  // namespace coroscope::analysis::inline answers
