// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of a trace, independent of the form in which they are written.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline data_tables {

enum class column_type : std::uint8_t { integer, real, text };

struct data_column {
    std::string_view name;
    column_type type = column_type::integer;
};

/// Takes the cells of rows, from left to right.
class row_sink {
public:
    virtual void integer(std::int64_t value) = 0;
    virtual void real(double value) = 0;
    virtual void text(std::string_view value) = 0;  ///< any bytes
    virtual void null() = 0;
    virtual void end_row() = 0;
    /// Whether rows can no longer be written. No more rows are needed then.
    [[nodiscard]] virtual bool failed() const noexcept = 0;

    void flag(bool value) { integer(value ? 1 : 0); }
    void maybe(const optional_ns& value) {
        if (value)
            integer(*value);
        else
            null();
    }
    /// The id of the row of an element of the model; NULL for `none`, and for an index that the
    /// model does not have.
    void reference(std::uint32_t index, std::size_t count) {
        if (index < count)
            integer(std::int64_t{index} + 1);
        else
            null();
    }
    /// NULL if the text is empty.
    void maybe_text(std::string_view value) {
        if (value.empty())
            null();
        else
            text(value);
    }

protected:
    ~row_sink() = default;
};

struct data_table {
    std::string_view name;
    std::span<const data_column> columns;
    void (*write)(const trace& from, row_sink& to);
};

/// All tables.
[[nodiscard]] std::span<const data_table> all_data_tables() noexcept;

/// Returns the table with that name, or null.
[[nodiscard]] const data_table* find_data_table(std::string_view name) noexcept;

// Cells that several tables have.
void write_string(const trace& from, row_sink& to, std::uint32_t string);
// An unknown part is NULL.
void write_split(row_sink& to, const time_split& time);
void write_states(row_sink& to, const state_times& times);

// The tables, by their name.
extern const data_table session_table, sites_table, threads_table, executors_table, objects_table,
    attributes_table, attribute_values_table, tasks_table, slices_table, awaits_table, scopes_table,
    notes_table, requests_table, path_segments_table, numbers_table, lock_waits_table,
    resource_waits_table, blocking_calls_table, thread_states_table, streams_table,
    stream_items_table, devices_table, device_activities_table, device_waits_table,
    device_ranges_table, memory_table;

}  // namespace coroscope::analysis::inline data_tables
