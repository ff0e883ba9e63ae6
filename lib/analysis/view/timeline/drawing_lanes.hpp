// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects the lane on which a span is drawn. Spans must come by (start ascending, end descending).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "../../model/lane.hpp"

namespace coroscope::analysis::inline timelines {

/// Lanes beside the regular ones, for bars that would overlap there. Each lane serves one owner (a
/// thread, a task) at a time, so that no bar nests in a bar of another owner.
class side_lanes {
public:
    /// Places the span and returns the index of its lane, or nullopt if all lanes are busy.
    std::optional<std::uint32_t> place(std::uint32_t owner, const span& what, inside room);

    [[nodiscard]] std::uint32_t count() const noexcept {
        return static_cast<std::uint32_t>(lanes_.size());
    }

private:
    /// The greatest number of lanes. It bounds the search for a lane, because in a hostile trace
    /// all spans may overlap.
    static constexpr std::size_t limit = 256;

    struct owned_lane {
        lane spans;
        std::uint32_t owner;
    };

    std::vector<owned_lane> lanes_;
};

/// Gives each task the lowest free lane while it lives.
class lane_pool {
public:
    /// Returns the lane of a task that lives during `lives`. Calls must come by the start of
    /// `lives`.
    std::uint32_t take(const span& lives);

private:
    using busy_lane = std::pair<std::int64_t, std::uint32_t>;  // end of the lane's task, lane
    template <class Value>
    using least_first = std::priority_queue<Value, std::vector<Value>, std::greater<>>;

    least_first<busy_lane> busy_;
    least_first<std::uint32_t> free_;
    std::uint32_t count_ = 0;
};

}  // namespace coroscope::analysis::inline timelines
