// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which lane a span is drawn on. Viewers drop or move complete events that overlap on one lane, so
// a span is only ever placed where it nests; spans must come by (start ascending, end descending).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace coroscope::analysis::render {

/// The latest moment of a picture. Half of what an int64 holds, so that no sum of two overflows: far
/// beyond any session.
inline constexpr std::int64_t latest_ns = std::numeric_limits<std::int64_t>::max() / 2;

struct span {
    std::int64_t start_ns;
    std::int64_t end_ns;
};

/// Whether others may nest in a span.
enum class inside : std::uint8_t { open, closed };

/// The spans that are open on one lane, innermost last.
class lane {
public:
    /// Opens the span here if it nests in what is open. One that touches the end of another is
    /// beside it.
    bool place(const span& what, inside room = inside::open) {
        close_until(what.start_ns);
        if (!open_.empty() &&
            (open_.back().room == inside::closed || what.end_ns > open_.back().end_ns)) {
            return false;
        }
        open_.push_back({what.end_ns, room});
        return true;
    }

    [[nodiscard]] bool empty_at(std::int64_t time_ns) {
        close_until(time_ns);
        return open_.empty();
    }

private:
    struct open_span {
        std::int64_t end_ns;
        inside room;
    };

    void close_until(std::int64_t time_ns) {
        while (!open_.empty() && open_.back().end_ns <= time_ns) open_.pop_back();
    }

    std::vector<open_span> open_;
};

/// Lanes beside the regular ones, for what would overlap there. Each lane serves one owner (a
/// thread, a task) at a time, so that nothing nests in what it does not belong to.
class side_lanes {
public:
    /// The index of the lane taken; nothing where all of them are busy.
    std::optional<std::uint32_t> place(std::uint32_t owner, const span& what, inside room);

    [[nodiscard]] std::uint32_t count() const noexcept {
        return static_cast<std::uint32_t>(lanes_.size());
    }

private:
    /// A hostile trace may overlap everywhere: bounds what a span costs.
    static constexpr std::size_t limit = 256;

    struct owned_lane {
        lane spans;
        std::uint32_t owner;
    };

    std::vector<owned_lane> lanes_;
};

/// Gives each task a lane to itself while it lives, the lowest that is free.
class lane_pool {
public:
    /// `lives` must come by start.
    std::uint32_t take(const span& lives);

private:
    using busy_lane = std::pair<std::int64_t, std::uint32_t>;  // until when, which
    template <class Value>
    using least_first = std::priority_queue<Value, std::vector<Value>, std::greater<>>;

    least_first<busy_lane> busy_;
    least_first<std::uint32_t> free_;
    std::uint32_t count_ = 0;
};

}  // namespace coroscope::analysis::render
