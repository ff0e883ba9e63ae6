// SPDX-License-Identifier: Apache-2.0
#pragma once

// The span of time in which every thread's records are complete. Outside of it a missing record
// proves nothing: a task that seems to be queued may have run.

#include <cstdint>
#include <limits>
#include <vector>

#include "../records/task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

struct known_span {
    static constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

    std::int64_t from_ns = ever;
    std::int64_t until_ns = for_ever;
    std::vector<bool> threads_without_end;  ///< their last records may be missing; empty: none

    /// Returns whether the records between the two moments are complete. `to_ns` is `for_ever` for
    /// an open end.
    [[nodiscard]] bool holds(std::int64_t begin_ns, std::int64_t to_ns) const {
        return begin_ns >= from_ns && to_ns <= until_ns;
    }

    /// Returns whether no record is missing at any time.
    [[nodiscard]] bool is_all() const { return from_ns == ever && until_ns == for_ever; }

    /// Returns whether the thread's last records are complete.
    [[nodiscard]] bool knows_end_of(std::uint32_t thread) const {
        return thread >= threads_without_end.size() || !threads_without_end[thread];
    }
};

/// All time if nothing was lost.
known_span find_known_span(const task_records& records, const trace& loaded);

}  // namespace coroscope::analysis::inline tasks
