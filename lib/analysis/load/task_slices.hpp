// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// The task's latest slice that has begun at that moment, which may be over; null where none has.
inline const slice* latest_slice(const trace& loaded, std::uint32_t task, std::int64_t time_ns) {
    const index_range range = loaded.tasks[task].slices;
    if (range.empty()) return nullptr;
    const auto slices = std::span(loaded.slices).subspan(range.front(), range.size());
    const auto after = std::upper_bound(
        slices.begin(), slices.end(), time_ns,
        [](std::int64_t moment, const slice& next) { return moment < next.start_ns; });
    return after == slices.begin() ? nullptr : &*std::prev(after);
}

}  // namespace coroscope::analysis::loading
