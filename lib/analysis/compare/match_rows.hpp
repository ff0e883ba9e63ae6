// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the rows of two builds that are the same place of the program.

#include <span>
#include <string>
#include <vector>

#include "estimate.hpp"

namespace coroscope::analysis::inline compare {

/// A row of either side. One side may have no run with it.
struct matched_row {
    row_in_runs before;
    row_in_runs after;
    std::string note;        ///< how it was found, if not by name and file
    bool ambiguous = false;  ///< there may be a counterpart on the other side
};

/// Rows match if kind, name and file are equal; their lines may differ. Several rows of one name in
/// a file match in the order of their lines if their number is the same. If only one row of a name
/// is left on each side, it has moved to another file.
[[nodiscard]] std::vector<matched_row> match_rows(std::span<const run_summary> before,
                                                  std::span<const run_summary> after);

}  // namespace coroscope::analysis::inline compare
