// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rows of each kind of one run.

#include <string>
#include <vector>

#include <coroscope/analysis/comparison.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "in_requests.hpp"

namespace coroscope::analysis::inline compare {

/// `requests`: the number of whole requests, by which calls are divided.
[[nodiscard]] std::vector<run_row> rows_of_scopes(const trace& loaded, const work_of_requests& work,
                                                  double requests);
[[nodiscard]] std::vector<run_row> rows_of_awaits(const trace& loaded, const work_of_requests& work,
                                                  double requests);
[[nodiscard]] std::vector<run_row> rows_of_requests(const trace& loaded, const request_list& list);
[[nodiscard]] std::vector<run_row> rows_of_executors(const trace& loaded, double requests);

/// Gives the row the place of a site, unless there is no such site.
void set_place(run_row& row, const trace& loaded, std::uint32_t site);

}  // namespace coroscope::analysis::inline compare
