// SPDX-License-Identifier: Apache-2.0
#include "drawing_lanes.hpp"

namespace coroscope::analysis::inline timelines {

std::optional<std::uint32_t> side_lanes::place(std::uint32_t owner, const span& what, inside room) {
    for (std::size_t at = 0; at < lanes_.size(); ++at) {
        owned_lane& each = lanes_[at];
        if (each.spans.empty_at(what.start_ns)) each.owner = owner;
        if (each.owner == owner && each.spans.place(what, room))
            return static_cast<std::uint32_t>(at);
    }
    if (lanes_.size() == limit) return std::nullopt;
    lanes_.push_back({{}, owner});
    lanes_.back().spans.place(what, room);
    return count() - 1;
}

std::uint32_t lane_pool::take(const span& lives) {
    while (!busy_.empty() && busy_.top().first <= lives.start_ns) {
        free_.push(busy_.top().second);
        busy_.pop();
    }
    std::uint32_t taken = count_;
    if (free_.empty()) {
        ++count_;
    } else {
        taken = free_.top();
        free_.pop();
    }
    busy_.emplace(lives.end_ns, taken);
    return taken;
}

}  // namespace coroscope::analysis::inline timelines
