// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of averages in torch's layout, and the same rows as CSV and JSON.
//
//     auto loaded = analysis::load("trace.cst");
//     auto text = analysis::table(analysis::table_of(*loaded), {.sort_by = "self_cpu_time_total"});
//
// For a native trace the CPU columns are running time. If it has tasks, the suspended, queued and
// waiting times of their scopes have columns of their own. For an event_list the CPU columns are
// torch's. An unknown figure is printed as unknown, never as zero.
//
// Thread-safety: pure functions, safe on any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/load_averages.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/analysis/units.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The content of a table.
struct table_input {
    std::vector<function_event_avg> rows;
    std::vector<std::string> places;  ///< "file:line" of each row; empty unless rows are by line
    /// The attribute or other key beside the name by which rows are grouped ("tenant", "Task");
    /// empty: none.
    std::string group;
    std::string group_column;  ///< its column in CSV: "attr:tenant", "task"
    /// of each row; none if the row has no value
    std::vector<std::optional<std::string>> group_values;
    /// The sum over all events, not only over the rows.
    std::int64_t self_cpu_time_total_ns = 0;
    /// Of a native trace: all running time, as running_time_total_ns() returns it. The larger of
    /// this and the sum above is the denominator of shares.
    std::int64_t running_time_total_ns = 0;
    std::int64_t self_device_time_total_ns = 0;  ///< likewise
    std::string device = "cuda";                 ///< the prefix of the columns of device times
    std::string device_note;         ///< the reason why devices were not recorded, if there is one
    std::vector<std::string> notes;  ///< lines for the footer
    /// Lines for a table without rows: the views that show what the trace has.
    std::vector<std::string> other_views;
    /// The rows are device work, for which CSV has fewer columns.
    bool device_rows = false;
    bool has_tasks = false;
    bool memory_profile = false;
    bool distinct_names = false;  ///< names are cut so that different names stay different
    /// The times of the CPU columns are running time: time on a thread, which may be preempted or
    /// blocked there. The headings then say *running*.
    bool is_running_time = false;
    /// The states of threads are known, at least in part: running time is divided.
    bool has_states = false;
    std::string states_source;  ///< in words; and for programs
    std::string states_source_name;
    state_times self_states;  ///< of all events: the parts of self_cpu_time_total_ns
    trace_health health;
};

/// Returns the input for the table of a whole trace; `attribute` as in key_averages.
[[nodiscard]] COROSCOPE_API table_input table_of(const trace& loaded,
                                                 average_key key = average_key::name,
                                                 std::string_view attribute = {});

/// As above, for averages that were loaded by that key.
[[nodiscard]] COROSCOPE_API table_input table_of(const trace_averages& averages,
                                                 average_key key = average_key::name,
                                                 std::string_view attribute = {});

/// As above, for an event_list. build_tree must have run.
[[nodiscard]] COROSCOPE_API table_input table_of(const event_list& events, const grouping& by = {});

/// The form of a table. Texts are cut to their column's width.
struct table_options {
    std::string sort_by{};  ///< one of table_sort_keys(), largest first; empty: in the order given
    std::int64_t row_limit = 100;  ///< -1: no limit
    std::size_t max_name_column_width = 55;
    std::size_t max_src_column_width = 75;
    std::size_t max_shapes_column_width = 80;
    std::optional<std::string> header{};  ///< a line above the table
    bool top_level_events_only = false;   ///< leaves out rows whose first event has a parent
    time_unit unit = time_unit::automatic;
    /// CSV: puts an apostrophe before a text that a spreadsheet would treat as a formula.
    bool guard_formulas = false;
    std::size_t line_width = 0;  ///< as in listing_options
};

/// Returns the valid values of `sort_by`, separated by ", ". torch's older names are accepted, too:
/// "cuda", "xpu", "privateuse1", "mtia" and "hpu" in a key mean "device".
[[nodiscard]] COROSCOPE_API std::string_view table_sort_keys() noexcept;

/// Returns the table as text, with its footer. The text is empty if there is neither a row nor a
/// loss to report. This function and the two below fail if `sort_by` is unknown.
[[nodiscard]] COROSCOPE_API result<std::string> table(const table_input& input,
                                                      const table_options& options = {});

/// Returns a header line and a line per row. Figures are integers, times are nanoseconds, unknown
/// is empty.
[[nodiscard]] COROSCOPE_API result<std::string> table_csv(const table_input& input,
                                                          const table_options& options = {});

/// Returns an object with the rows, the total and the trace's losses. Unknown is null.
[[nodiscard]] COROSCOPE_API result<std::string> table_json(const table_input& input,
                                                           const table_options& options = {});

}  // namespace coroscope::analysis
