// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of averages in torch's layout, and the same rows as CSV and JSON.
//
//     auto loaded = analysis::load("trace.cst");
//     auto text = analysis::table(analysis::table_of(*loaded), {.sort_by = "self_cpu_time_total"});
//
// Of a native trace the CPU columns are running time; where it has tasks, what their scopes spent suspended,
// queued and waiting stands in columns of its own. Of an event_list they are torch's. What is unknown is printed
// as such, never as zero. Pure functions; safe on any thread.

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
    std::vector<function_event_avg> rows;
    std::vector<std::string> places;  ///< "file:line" of each row; empty where rows are not by line
    /// What rows are grouped by beside their name ("tenant", "Task"); empty: nothing.
    std::string group;
    std::string group_column;  ///< its column in CSV: "attr:tenant", "task"
    std::vector<std::optional<std::string>> group_values;  ///< of each row; none where it has none
    std::int64_t self_cpu_time_total_ns =
        0;  ///< of all events, not just the rows: the denominator of shares
    std::int64_t self_device_time_total_ns = 0;  ///< likewise
    std::string device = "cuda";                 ///< what the columns of device times are called
    std::string device_note;  ///< why devices were not recorded, if there is something to say
    std::vector<std::string> notes;  ///< lines for the footer
    bool device_rows =
        false;  ///< the rows are what ran on devices, which CSV tells in fewer columns
    bool has_tasks = false;
    bool memory_profile = false;
    trace_health health;
};

/// The input for the table of a whole trace; `attribute` as in key_averages.
[[nodiscard]] COROSCOPE_API table_input table_of(const trace& loaded,
                                                 average_key key = average_key::name,
                                                 std::string_view attribute = {});

/// The same of an event_list. Precondition: build_tree has run.
[[nodiscard]] COROSCOPE_API table_input table_of(const event_list& events, const grouping& by = {});

struct table_options {
    std::string sort_by{};  ///< one of table_sort_keys(), largest first; empty: in the order given
    std::int64_t row_limit = 100;  ///< -1: no limit
    std::size_t max_name_column_width = 55;
    std::size_t max_src_column_width = 75;
    std::size_t max_shapes_column_width = 80;
    std::optional<std::string> header{};  ///< a line above the table
    bool top_level_events_only = false;   ///< leaves out rows whose first event has a parent
    time_unit unit = time_unit::automatic;
};

/// What `sort_by` takes, separated by ", ". torch's older names mean the same: "cuda", "xpu" and "privateuse1"
/// in a key read as "device".
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
