// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of a page's timeline. docs/contributing/report_data.md describes their columns.

#include "column_tables.hpp"
#include "page_input.hpp"
#include "page_names.hpp"

namespace coroscope::analysis::inline pages {

/// The place to which the tables are written.
struct table_target {
    column_tables& tables;
    page_names& names;
};

void write_work_tables(const page_input& input, table_target to);     ///< scopes, parts, tasks, …
void write_thread_tables(const page_input& input, table_target to);   ///< states, queues, busy
void write_request_tables(const page_input& input, table_target to);  ///< requests, segments, …
void write_wait_tables(const page_input& input, table_target to);     ///< locks, resources, …

/// Returns the length of the parts of the session of which a table keeps the highest number; 0: it
/// keeps all steps.
[[nodiscard]] std::int64_t part_of_steps(const std::vector<std::vector<queue_step>>& of_executors,
                                         std::int64_t duration_ns);

/// Writes the nodes of the flame graphs of a trace.
void write_frame_table(const trace& from, std::string_view table, table_target to);

/// Returns the enumerations to which columns refer, as a JSON object.
[[nodiscard]] std::string kinds_json();

/// A reference to a list whose entries all have a row.
[[nodiscard]] inline std::int64_t reference(std::uint32_t index, std::size_t size) {
    return index < size ? static_cast<std::int64_t>(index) : -1;
}

/// The value of a bit in a column of flags.
[[nodiscard]] constexpr std::int64_t flag(bool is_set, std::int64_t bit) {
    return is_set ? bit : 0;
}

}  // namespace coroscope::analysis::inline pages
