// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures as cells of a listing.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/percentiles.hpp>

namespace coroscope::analysis::inline listings {

/// A count, cut to the largest number that a cell can hold.
inline optional_ns figure(std::uint64_t count) {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(count, largest));
}

/// How well the parts of a wait are known. Waiting time was suspended or queued time, and it is
/// unknown which. So if there is waiting time, the other two parts are lower bounds, or unknown if
/// both are 0.
enum class wait_knowledge : std::uint8_t { whole, least, nothing };

/// `sums` may be a time_split, await_times or averages.
template <class Sums>
wait_knowledge known_of_wait(const Sums& sums) {
    if (sums.waiting_ns == 0) return wait_knowledge::whole;
    return sums.suspended_ns == 0 && sums.queued_ns == 0 ? wait_knowledge::nothing
                                                         : wait_knowledge::least;
}

/// Returns suspended or queued time, if it is known.
template <class Sums>
optional_ns known_part(const Sums& sums, std::int64_t part_ns) {
    return known_of_wait(sums) == wait_knowledge::nothing ? std::nullopt : optional_ns(part_ns);
}

/// Appends the cells "suspended", "queued" and "waiting".
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

/// Appends the cells of append_state_columns(). If the states are known only in part, the parts are
/// lower bounds.
inline void append_states(std::vector<listing_cell>& cells, const state_times& times) {
    const bool nothing = times.known_ns() == 0 && times.unknown_ns != 0;
    for (const std::int64_t part_ns : {times.on_cpu_ns, times.blocked_ns, times.preempted_ns}) {
        if (!nothing && times.unknown_ns != 0)
            cells.emplace_back(at_least{part_ns});
        else
            cells.emplace_back(nothing ? optional_ns() : optional_ns(part_ns));
    }
    cells.emplace_back(optional_ns(times.unknown_ns));
}

/// Appends the columns that divide running time.
inline void append_state_columns(std::vector<listing_column>& columns) {
    columns.push_back({"CPU", "on_cpu_ns", cell_kind::time});
    columns.push_back({"Blocked", "blocked_ns", cell_kind::time});
    columns.push_back({"Preempted", "preempted_ns", cell_kind::time});
    columns.push_back({"Unknown", "unknown_state_ns", cell_kind::time});
}

/// Appends the cells "running", "suspended", "queued", "waiting" and "wall". All are unknown if
/// `known` is false. If `states` is given, the cells of append_states() follow "running".
inline void append_times(std::vector<listing_cell>& cells, const time_split& time, bool known,
                         const state_times* states = nullptr) {
    if (!known) {
        cells.resize(cells.size() + (states != nullptr ? 9 : 5), optional_ns());
        return;
    }
    cells.emplace_back(optional_ns(time.running_ns));
    if (states != nullptr) append_states(cells, *states);
    append_wait(cells, time);
    cells.emplace_back(optional_ns(time.wall_ns()));
}

/// A text; not applicable if it is empty.
inline listing_cell text_cell(std::string text) {
    return text.empty() ? listing_cell(not_applicable()) : listing_cell(std::move(text));
}

/// A share of 0 to 1 in percent, with one decimal.
inline double percent(double share) { return std::round(1000 * share) / 10; }

/// The columns of append_lengths().
inline void append_length_columns(std::vector<listing_column>& columns) {
    columns.push_back({"Total", "total_ns", cell_kind::time});
    columns.push_back({"p50", "p50_ns", cell_kind::time});
    columns.push_back({"p99", "p99_ns", cell_kind::time});
    columns.push_back({"Max", "max_ns", cell_kind::time});
}

inline void append_lengths(std::vector<listing_cell>& cells, std::int64_t total_ns,
                           const percentiles& length) {
    for (const std::int64_t time_ns : {total_ns, length.p50_ns, length.p99_ns, length.max_ns})
        cells.emplace_back(optional_ns(time_ns));
}

/// The number of a task (an index into trace::tasks); not applicable if there is none.
inline listing_cell task_id(const trace& loaded, std::uint32_t task) {
    if (task >= loaded.tasks.size()) return not_applicable();
    return figure(loaded.tasks[task].id);
}

}  // namespace coroscope::analysis::inline listings
