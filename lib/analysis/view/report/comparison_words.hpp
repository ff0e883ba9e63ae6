// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parts of the sentences about a comparison of runs.

#include <string>
#include <vector>

#include <coroscope/analysis/comparison_views.hpp>

namespace coroscope::analysis::inline reports {

/// "+9.6 %"; "-" if unknown.
[[nodiscard]] std::string change_text(const comparison_row& row);
/// "+5 to +14 %"; "-" if there is no interval.
[[nodiscard]] std::string interval_text(const comparison_row& row);
/// "+6.1 us".
[[nodiscard]] std::string effect_text(const comparison_row& row);
/// "store.cpp:42"; empty if the file is unknown.
[[nodiscard]] std::string place_text(const comparison_row& row);

/// The certainty of the intervals, and how to raise it.
[[nodiscard]] std::string certainty_text(const comparison& of);

/// A line for each row that is called more or less often; without newlines.
[[nodiscard]] std::vector<std::string> call_notes(const comparison& of);

/// The rows to show, in order, and the number of unclear ones that were left out.
struct shown_rows {
    std::vector<const comparison_row*> rows;
    std::size_t left_out = 0;
};
[[nodiscard]] shown_rows rows_to_show(const comparison& of, const comparison_options& options);

}  // namespace coroscope::analysis::inline reports
