// SPDX-License-Identifier: Apache-2.0
#pragma once

// The differences and gaps of recordings, as far as they limit what a comparison proves.

#include <span>
#include <string>
#include <vector>

#include <coroscope/analysis/comparison.hpp>

namespace coroscope::analysis::inline compare {

struct comparability {
    std::vector<std::string> notes;
    std::string why_no_times;  ///< why times of the sides cannot be compared; empty: they can
    std::string
        why_no_absence;  ///< why a missing row may be missing from the trace alone; or empty
    bool requests_guessed = false;  ///< of any run
};

[[nodiscard]] comparability check_comparability(std::span<const run_summary> before,
                                                std::span<const run_summary> after);

/// Returns whether the lost records of the run may be more than one in fifty of the row's calls.
/// The low time of the others then proves nothing.
[[nodiscard]] bool may_have_lost_calls(const run_row& row, const run_summary& run) noexcept;

}  // namespace coroscope::analysis::inline compare
