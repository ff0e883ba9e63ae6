// SPDX-License-Identifier: Apache-2.0
#pragma once

// The columns of the table: one entry per column in table_columns.cpp, which text, CSV, JSON and
// --sort-by follow. docs/contributing/add_a_column.md has the steps.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <coroscope/analysis/table.hpp>

#include "../../text/text_grid.hpp"
#include "cell_source.hpp"

namespace coroscope::analysis::inline tables {

/// The width of a column of text: a default, or the width of its cells up to one of the limits in
/// table_options.
enum class width : unsigned char { fixed, every_name, names, shapes, source };

/// The column in the text table.
struct text_form {
    std::string_view heading{};  ///< "DEV" in it is the device's name
    bool (*shown)(const table_input&) = nullptr;
    std::string (*cell)(const cell_source&) = nullptr;
    width wide = width::fixed;
    alignment align = alignment::right;
    std::string (*heading_of)(const table_input&) = nullptr;  ///< replaces `heading`
    std::string_view of_running_time{};  ///< replaces `heading` if times are running time
};

/// The column in CSV and the member in JSON.
struct data_form {
    std::uint32_t place = 0;  ///< in the line: 1, 2, …; a new column takes the next number
    std::string_view name{};
    bool (*shown)(const table_input&) = nullptr;
    data_value (*value)(const cell_source&) = nullptr;
    std::string_view (*csv_name)(const table_input&) = nullptr;   ///< replaces `name`
    std::string_view (*json_name)(const table_input&) = nullptr;  ///< replaces `name`
};

/// The key that sorts by the column.
struct sort_form {
    std::uint32_t place = 0;  ///< in table_sort_keys(): 1, 2, …; a new key takes the next number
    std::string_view key{};
    std::int64_t (*figure)(const function_event_avg&) = nullptr;
};

/// A column in its forms. If the functions of a form are null, the column does not exist in that
/// form.
struct table_column {
    text_form text{};
    data_form data{};
    sort_form sort{};
};

/// Every column, in the order in which the text has them.
[[nodiscard]] std::span<const table_column> table_columns() noexcept;

/// The scale of the flops column, as an exponent of 1000.
[[nodiscard]] std::size_t flops_scale(const table_input& input);

}  // namespace coroscope::analysis::inline tables
