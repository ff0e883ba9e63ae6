// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the three forms of the table share: which rows, in which order, and what of a row is known.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/table.hpp>

namespace coroscope::analysis::render {

/// Indices of the rows to print, sorted and limited.
[[nodiscard]] result<std::vector<std::size_t>> chosen_rows(const table_input& input,
                                                           const table_options& options);

/// A sum over a row's events that leaves out those of which it is unknown. Empty where it is
/// unknown of all of them.
[[nodiscard]] optional_ns known_sum(const event_average& row, std::int64_t sum_ns);

/// Running time per event of which it is known.
[[nodiscard]] optional_ns running_average(const event_average& row);

}  // namespace coroscope::analysis::render
