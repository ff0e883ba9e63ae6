// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rows that a table shows, and their order.

#include <cstddef>
#include <vector>

#include <coroscope/analysis/table.hpp>

namespace coroscope::analysis::inline tables {

/// Indices of the rows to print, sorted and limited.
[[nodiscard]] result<std::vector<std::size_t>> chosen_rows(const table_input& input,
                                                           const table_options& options);

}  // namespace coroscope::analysis::inline tables
