// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures as cells of a listing.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <coroscope/analysis/listing.hpp>

namespace coroscope::analysis::render {

/// A count; one that no cell holds is shown as the largest that it does.
inline optional_ns figure(std::uint64_t count) {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(count, largest));
}

/// How much of what is known of a wait. Time that is `waiting` was suspended or queued, nobody saw which: beside it
/// the other two are the least that they can be, and where there is nothing beside it they are unknown.
enum class wait_knowledge : std::uint8_t { whole, least, nothing };

/// Of a time_split, of await_times and of averages.
template <class Sums>
wait_knowledge known_of_wait(const Sums& sums) {
    if (sums.waiting_ns == 0) return wait_knowledge::whole;
    return sums.suspended_ns == 0 && sums.queued_ns == 0 ? wait_knowledge::nothing
                                                         : wait_knowledge::least;
}

/// Suspended or queued time.
template <class Sums>
optional_ns known_part(const Sums& sums, std::int64_t part_ns) {
    return known_of_wait(sums) == wait_knowledge::nothing ? std::nullopt : optional_ns(part_ns);
}

/// The cells "suspended", "queued" and "waiting".
template <class Sums>
void append_wait(std::vector<listing_cell>& cells, const Sums& sums) {
    for (const std::int64_t part_ns : {sums.suspended_ns, sums.queued_ns}) {
        if (known_of_wait(sums) == wait_knowledge::least)
            cells.emplace_back(at_least{part_ns});
        else
            cells.emplace_back(known_part(sums, part_ns));
    }
    cells.emplace_back(optional_ns(sums.waiting_ns));
}

/// The cells "running", those three, and "wall"; all unknown where nothing is known.
inline void append_times(std::vector<listing_cell>& cells, const time_split& time, bool known) {
    if (!known) {
        cells.resize(cells.size() + 5, optional_ns());
        return;
    }
    cells.emplace_back(optional_ns(time.running_ns));
    append_wait(cells, time);
    cells.emplace_back(optional_ns(time.wall_ns()));
}

}  // namespace coroscope::analysis::render
