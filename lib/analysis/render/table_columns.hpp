// SPDX-License-Identifier: Apache-2.0
#pragma once

// The columns of the text table, in torch's order with ours among them.

#include <cstddef>
#include <string>
#include <vector>

#include <coroscope/analysis/table.hpp>

#include "text_table.hpp"

namespace coroscope::analysis::render {

/// A column with its cells. A cell of several lines stands on as many.
struct laid_column {
    text_column column;
    std::vector<std::string> cells;  ///< one per row
};

/// The columns that the input asks for, with the cells of these rows.
[[nodiscard]] std::vector<laid_column> lay_columns(const table_input& input,
                                                   const table_options& options,
                                                   const std::vector<std::size_t>& rows);

/// "CUDA": what the columns of device times begin with.
[[nodiscard]] std::string device_title(const table_input& input);

}  // namespace coroscope::analysis::render
