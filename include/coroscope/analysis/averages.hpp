// SPDX-License-Identifier: Apache-2.0
#pragma once

// key_averages: every event with the same key added up (torch: EventList.key_averages). The CPU
// columns of a table are `running_ns` and `self_running_ns`; what a coroutine's scope spent
// suspended, queued or waiting stands beside them and never in them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The events of one key. Sums are over all of them.
struct event_average {
    std::string name;
    std::string category;
    std::uint32_t attribute =
        none;  ///< the value of the attribute that is grouped by: index into trace::strings
    std::uint32_t site =
        none;  ///< of the first event; index into trace::sites, none for run-time labels
    std::uint64_t count = 0;
    std::uint64_t in_frame_count = 0;  ///< events that may have been suspended while open
    std::uint64_t unknown_count =
        0;  ///< events whose suspension is unknown: their whole wall is in waiting_ns
    std::int64_t running_ns = 0;       ///< torch: CPU total
    std::int64_t self_running_ns = 0;  ///< torch: self CPU
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;  ///< suspended or queued, which of them nobody saw
    std::int64_t min_wall_ns = 0;
    std::int64_t max_wall_ns = 0;

    [[nodiscard]] std::int64_t wall_ns() const {
        return running_ns + suspended_ns + queued_ns + waiting_ns;
    }
};

/// What makes two events one row.
enum class average_key : std::uint8_t {
    name,         ///< name and category
    source_line,  ///< name, category, file and line
    attribute,    ///< name, category and the value of an attribute that was carried at the start
};

/// One entry per key, in the order in which the keys first appear in trace::events. `attribute` is the
/// key of the attribute to group by; an event that carried none is in a row of its own.
COROSCOPE_API std::vector<event_average> key_averages(const trace& loaded,
                                                      average_key key = average_key::name,
                                                      std::string_view attribute = {});

/// All events added up under the name "Total". Its self_running_ns is the table's denominator.
COROSCOPE_API event_average total_average(const trace& loaded);

}  // namespace coroscope::analysis
