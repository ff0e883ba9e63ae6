// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of a request's time as cells of a listing, and the words for its end.

#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>

#include "../../words/places.hpp"
#include "../../words/request_words.hpp"
#include "figure.hpp"

namespace coroscope::analysis::inline listings {

/// The columns of append_request_time().
inline void append_request_columns(std::vector<listing_column>& columns, const trace& loaded) {
    columns.push_back({"Wall", "wall_ns", cell_kind::time});
    columns.push_back({"Running", "running_ns", cell_kind::time});
    if (loaded.states.any()) append_state_columns(columns);
    columns.push_back({"Suspended", "suspended_ns", cell_kind::time});
    columns.push_back({"Queued", "queued_ns", cell_kind::time});
    columns.push_back({"Waiting", "waiting_ns", cell_kind::time});
}

inline void append_request_time(std::vector<listing_cell>& cells, const trace& loaded,
                                const request_time& time) {
    cells.emplace_back(optional_ns(time.wall_ns));
    if (!time.known) {
        cells.resize(cells.size() + (loaded.states.any() ? 8 : 4), optional_ns());
        return;
    }
    cells.emplace_back(optional_ns(time.time.running_ns));
    if (loaded.states.any()) append_states(cells, time.states);
    append_wait(cells, time.time);
}

/// "in full" or "left out".
inline std::string_view extent_text(const request_info& request) noexcept {
    return request.left_out ? "left out" : "in full";
}

inline std::string_view end_text(const request_info& request) noexcept {
    switch (request.end) {
        case request_end::completed: return "completed";
        case request_end::failed: return "failed";
        case request_end::abandoned: return "abandoned";
        case request_end::unfinished: break;
    }
    return "unfinished";
}

}  // namespace coroscope::analysis::inline listings
