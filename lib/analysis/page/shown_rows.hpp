// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a trace that a page shows in its timeline: everything, or, of a large trace, the work
// of as many requests as fit.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>

#include "kept_rows.hpp"
#include "request_order.hpp"
#include "work_index.hpp"

namespace coroscope::analysis::inline pages {

/// The critical paths of requests that a page shows, by row of the request.
struct shown_paths {
    std::vector<std::uint32_t> rows;  ///< ascending
    std::vector<critical_path> paths;
};

/// Returns the paths of the requests that have the first right to it, as many as fit.
[[nodiscard]] shown_paths paths_to_show(const trace& from, const request_order& order);

struct shown_rows {
    bool is_whole = true;
    kept_rows scopes;
    kept_rows tasks;
    kept_rows slices;
    kept_rows awaits;
    std::vector<bool> requests;  ///< by row: its work is in the timeline
    /// In a large trace the times of the shown requests, by start, without overlaps.
    std::vector<std::pair<std::int64_t, std::int64_t>> times{};

    /// Whether a part of that time is shown.
    [[nodiscard]] bool shows(std::int64_t from_ns, std::int64_t to_ns) const;
};

/// Chooses all rows if the trace has at most `most_scopes` scopes, and, with slices and awaits, at
/// most twice that number of rows. Else chooses the work of requests up to these numbers, and the
/// work on their paths; without requests the longest scopes.
[[nodiscard]] shown_rows rows_to_show(const trace& from, const request_order& order,
                                      const work_index& work, const shown_paths& paths,
                                      std::uint64_t most_scopes);

}  // namespace coroscope::analysis::inline pages
