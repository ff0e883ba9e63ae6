// SPDX-License-Identifier: Apache-2.0
#pragma once

// Spans that nest on one lane. Viewers drop or move complete events that overlap on one lane, so a
// span is only ever placed on a lane on which it nests. Spans must come by (start ascending, end
// descending).

#include <cstdint>
#include <limits>
#include <vector>

namespace coroscope::analysis::inline model {

/// The latest time that a timeline shows: half of the largest int64, so that the sum of two times
/// does not overflow. It is far beyond any session.
inline constexpr std::int64_t latest_ns = std::numeric_limits<std::int64_t>::max() / 2;

struct span {
    std::int64_t start_ns;
    std::int64_t end_ns;
};

/// Whether other spans may nest in a span.
enum class inside : std::uint8_t { open, closed };

/// The spans that are open on one lane, innermost last.
class lane {
public:
    /// Opens the span on this lane if it nests in the open spans; else returns false. A span that
    /// begins at the end of another does not nest in it.
    bool place(const span& what, inside room = inside::open) {
        close_until(what.start_ns);
        if (!open_.empty() &&
            (open_.back().room == inside::closed || what.end_ns > open_.back().end_ns)) {
            return false;
        }
        open_.push_back({what.end_ns, room});
        return true;
    }

    struct open_span {
        std::int64_t end_ns;
        inside room;
    };

    [[nodiscard]] bool empty_at(std::int64_t time_ns) {
        close_until(time_ns);
        return open_.empty();
    }

    /// Returns the innermost span that is open at that time, or nullptr. The pointer is valid until
    /// the next call. The times of these calls and the starts of spans must come in ascending
    /// order.
    [[nodiscard]] const open_span* innermost_at(std::int64_t time_ns) {
        return empty_at(time_ns) ? nullptr : &open_.back();
    }

private:
    void close_until(std::int64_t time_ns) {
        while (!open_.empty() && open_.back().end_ns <= time_ns) open_.pop_back();
    }

    std::vector<open_span> open_;
};

}  // namespace coroscope::analysis::inline model
