// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of averages in torch's layout, and the same rows as CSV and JSON.
//
//     auto loaded = analysis::load("trace.cst");
//     auto text = analysis::table(analysis::table_of(*loaded), {.sort_by = "self_cpu_time_total"});
//
// The CPU columns are running time; where a trace has tasks, what their scopes spent suspended,
// queued and waiting stands in columns of its own. What is unknown is printed as such, never as
// zero. Pure functions; safe on any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/analysis/units.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// What a table is made of.
struct table_input {
    std::vector<event_average> rows;
    std::vector<std::string> places;  ///< "file:line" of each row; empty where rows are not by line
    std::string attribute;            ///< the key that rows are grouped by; empty: they are not
    std::vector<std::string> attribute_values;  ///< of each row; empty where none was carried
    std::int64_t self_running_total_ns =
        0;  ///< of all events, not just the rows: the denominator of shares
    bool has_tasks = false;
    trace_health health;
};

/// The input for the table of a whole trace; `attribute` as in key_averages. With `top_level_only`, keys whose first event has a
/// parent are left out; the denominator stays.
[[nodiscard]] COROSCOPE_API table_input table_of(const trace& loaded,
                                                 average_key key = average_key::name,
                                                 bool top_level_only = false,
                                                 std::string_view attribute = {});

struct table_options {
    std::string sort_by{};  ///< one of table_sort_keys(), largest first; empty: in the order given
    std::int64_t row_limit = 100;  ///< -1: no limit
    std::size_t max_name_column_width = 55;
    std::size_t max_source_column_width = 75;
    std::optional<std::string> header{};  ///< a line above the table
    bool top_level_events_only =
        false;  ///< says so above the table; choosing them is table_of's part
    time_unit unit = time_unit::automatic;
};

/// What `sort_by` takes, separated by ", ".
[[nodiscard]] COROSCOPE_API std::string_view table_sort_keys() noexcept;

/// The table as text, with its footer; empty where there is neither a row nor a loss to tell of.
/// Fails where `sort_by` is unknown, as do the two below.
[[nodiscard]] COROSCOPE_API result<std::string> table(const table_input& input,
                                                      const table_options& options = {});

/// One header line, then a line per row; integers, nanoseconds, unknown is empty.
[[nodiscard]] COROSCOPE_API result<std::string> table_csv(const table_input& input,
                                                          const table_options& options = {});

/// An object with the rows, the total and the trace's losses; unknown is null.
[[nodiscard]] COROSCOPE_API result<std::string> table_json(const table_input& input,
                                                           const table_options& options = {});

}  // namespace coroscope::analysis
