// SPDX-License-Identifier: Apache-2.0
#pragma once

// Between which moments every thread's records are there. Outside of it, that a record is missing tells nothing: a task
// that seems to be queued may have run.

#include <cstdint>
#include <limits>

#include "task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

struct known_span {
    static constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

    std::int64_t from_ns = ever;
    std::int64_t until_ns = for_ever;

    /// Whether what happened in between is told. `to_ns` is `for_ever` where something did not end.
    [[nodiscard]] bool holds(std::int64_t begin_ns, std::int64_t to_ns) const {
        return begin_ns >= from_ns && to_ns <= until_ns;
    }
};

/// All time where nothing was lost.
known_span find_known_span(const task_records& records, const trace& loaded);

}  // namespace coroscope::analysis::loading
