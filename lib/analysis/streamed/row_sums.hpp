// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sums of the scopes of each row of the averages, for a pass over the records of a trace that
// makes no events.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/averages.hpp>

#include "../load/load_native.hpp"

namespace coroscope::analysis::inline streamed {

/// Sums of part of a row's scopes. The parts of a row may be added in any order.
struct row_sums {
    std::uint64_t count = 0;
    std::uint64_t partial_count = 0;
    std::int64_t wall_ns = 0;  ///< this and the next four: of scopes that no scope of the row
                               ///< encloses
    std::int64_t running_ns = 0;
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;
    std::int64_t self_ns = 0;
    std::int64_t min_wall_ns = 0;
    std::int64_t max_wall_ns = 0;
    state_times states;
    state_times self_states;
    // Of the first scope in the model's order.
    std::int64_t first_start_ns = 0;
    std::int64_t first_end_ns = 0;
    std::uint32_t first_stream = 0;
    std::uint64_t first_place = 0;  ///< number of the stream's scopes behind it
    std::uint32_t site_id = 0;
    bool has_parent = false;
    bool parent_unknown = false;  ///< only the events show whether it has a parent

    /// Returns whether this row's first scope comes before the other's.
    [[nodiscard]] bool begins_before(const row_sums& other) const;

    void add(const row_sums& added);
};

/// The rows of a trace's sites.
class site_rows {
public:
    /// `key`: name or source_line.
    site_rows(const loaded_streams& streams, average_key key);

    [[nodiscard]] std::size_t size() const { return names_.size(); }

    /// The row of scopes of the site with that id; `none` if the trace does not describe the site.
    [[nodiscard]] std::uint32_t of(std::uint32_t id) const {
        return id < direct_.size() ? direct_[id] : find(id);
    }

    /// Returns the rows that have scopes, in the order of their first scopes.
    [[nodiscard]] std::vector<function_event_avg> averages(const std::vector<row_sums>& sums) const;

private:
    [[nodiscard]] std::uint32_t find(std::uint32_t id) const;

    const metadata& metadata_;
    const trace& loaded_;
    std::vector<std::uint32_t> names_;   // by row: index into trace::strings
    std::vector<std::uint32_t> rows_;    // by index into trace::sites
    std::vector<std::uint32_t> direct_;  // by id, for small ids
};

}  // namespace coroscope::analysis::inline streamed
