// SPDX-License-Identifier: Apache-2.0
#pragma once

// The change of a row's low time between two sides, and its standard error.

#include <optional>
#include <span>
#include <vector>

#include <coroscope/analysis/comparison.hpp>

namespace coroscope::analysis::inline compare {

/// One run's part in a row.
struct row_in_run {
    const run_row* row = nullptr;
    const run_summary* run = nullptr;
};

using row_in_runs = std::vector<row_in_run>;

/// Logarithms of times.
struct estimate {
    double change = 0;
    double error = 0;    ///< standard error
    double freedom = 0;  ///< degrees of freedom of that error
};

/// Selects the times that are compared: those to the wake, or those to the resume.
using times_of_row = call_times run_row::*;

/// Of a row whose calls vary much: the variance between the runs of a side, divided by the assumed
/// one. Returns nothing for other rows, and with one run a side.
[[nodiscard]] std::optional<double> spread_ratio(const row_in_runs& before,
                                                 const row_in_runs& after, times_of_row times);

/// Returns the factor for the variances that runs show, from the ratios of all rows. 1 if there are
/// too few of them.
[[nodiscard]] double common_scale(std::vector<double> ratios);

/// Returns nothing if the runs do not show how certain the change is. Both sides must have a run.
[[nodiscard]] std::optional<estimate> estimate_change(const row_in_runs& before,
                                                      const row_in_runs& after, times_of_row times,
                                                      double scale);

/// The median of the variances that the runs show themselves.
[[nodiscard]] double shown_variance(const row_in_runs& before, const row_in_runs& after,
                                    times_of_row times);

/// The median of the runs' low times.
[[nodiscard]] double median_low_ns(const row_in_runs& runs, times_of_row times);

}  // namespace coroscope::analysis::inline compare
