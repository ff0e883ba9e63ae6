// SPDX-License-Identifier: Apache-2.0
#include "open_rows.hpp"

#include <algorithm>
#include <string_view>

namespace coroscope::analysis::inline timelines {
namespace {

std::string_view category_of(const trace& from, const event& of) {
    return of.site < from.sites.size() ? std::string_view(from.sites[of.site].category)
                                       : std::string_view();
}

}  // namespace

bool open_rows::is_same_row(std::uint32_t left, std::uint32_t right) const {
    const event& one = from_.events[left];
    const event& other = from_.events[right];
    return one.name == other.name &&
           (one.site == other.site || category_of(from_, one) == category_of(from_, other));
}

void open_rows::forget_ended(std::int64_t time_ns) {
    std::erase_if(around_,
                  [&](const auto& open) { return from_.events[open.first].end_ns < time_ns; });
    swept_at_ = std::max<std::size_t>(64, 2 * around_.size());
}

bool open_rows::take(std::uint32_t index) {
    const event& added = from_.events[index];
    if (around_.size() >= swept_at_) forget_ended(added.start_ns);
    const auto above = around_.find(added.parent);
    if (above == around_.end()) {
        around_[index] = none;
        return false;
    }
    const bool same = is_same_row(added.parent, index);
    std::uint32_t at = above->second;
    around_[index] = same ? at : added.parent;
    if (same) return true;
    while (at != none) {
        if (is_same_row(at, index)) return true;
        const auto next = around_.find(at);
        at = next == around_.end() ? none : next->second;
    }
    return false;
}

}  // namespace coroscope::analysis::inline timelines
