// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fits a table into a line of limited width: columns that matter least are left out, and columns of
// texts become narrower.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text_grid.hpp"

namespace coroscope::analysis::inline text {

/// The way in which the cells of a column become shorter.
enum class shortening : unsigned char {
    none,
    middle,  ///< names keep their beginning and their end
    source,  ///< places keep their end
};

/// A column of a table with its cells, one per row.
struct laid_column {
    text_column column;
    std::vector<std::string> cells;
    std::string_view key{};  ///< in CSV and JSON
    shortening how = shortening::none;
};

/// Leaves out columns and shortens cells so that no line is longer than `line` characters. A column
/// of which each cell is empty, unknown, zero or not applicable is left out first. Returns the
/// headings of the columns that were left out.
[[nodiscard]] std::vector<std::string> fit_table(std::vector<laid_column>& columns,
                                                 std::size_t line);

/// Cuts a text in its middle: "first...last". A limit below 8 cuts at the end.
[[nodiscard]] std::string cut_middle(std::string_view text, std::size_t limit);

/// Returns a line that names the columns that were left out; empty if there are none.
[[nodiscard]] std::string left_out_line(const std::vector<std::string>& headings);

}  // namespace coroscope::analysis::inline text
