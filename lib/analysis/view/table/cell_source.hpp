// SPDX-License-Identifier: Apache-2.0
#pragma once

// The source and the value of a cell of the table.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include <coroscope/analysis/table.hpp>

namespace coroscope::analysis::inline tables {

/// The row for which a cell is written.
struct cell_source {
    const table_input& input;
    const table_options& options;
    std::size_t at;
    [[nodiscard]] const function_event_avg& row() const { return input.rows[at]; }
    /// Texts that will be fitted into a line are not cut before.
    [[nodiscard]] std::size_t limit(std::size_t otherwise) const {
        return options.line_width != 0 ? std::numeric_limits<std::size_t>::max() : otherwise;
    }
    [[nodiscard]] std::string time(std::int64_t nanoseconds) const {
        return options.line_width != 0 ? format_short_time(nanoseconds, options.unit)
                                       : format_time(nanoseconds, options.unit);
    }
};

/// A figure or a text. An unknown value is an empty cell in CSV and null in JSON.
using data_value = std::variant<optional_ns, std::optional<std::string>>;

}  // namespace coroscope::analysis::inline tables
