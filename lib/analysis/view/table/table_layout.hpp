// SPDX-License-Identifier: Apache-2.0
#pragma once

// The columns of the text table with their cells and widths.

#include <cstddef>
#include <string>
#include <vector>

#include <coroscope/analysis/table.hpp>

#include "../../text/fit_columns.hpp"

namespace coroscope::analysis::inline tables {

/// Returns the columns of the input with the cells of `rows`. A cell may have several lines.
[[nodiscard]] std::vector<laid_column> lay_columns(const table_input& input,
                                                   const table_options& options,
                                                   const std::vector<std::size_t>& rows);

/// Returns the beginning of the headings of device times, such as "CUDA".
[[nodiscard]] std::string device_title(const table_input& input);

}  // namespace coroscope::analysis::inline tables
