// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tasks that occupied executors.

#include <cstdint>
#include <vector>

#include "executor_runs.hpp"
#include <coroscope/analysis/executor_statistics.hpp>

namespace coroscope::analysis::inline executor_answers {

/// Returns the occupant of each executor, by index into trace::executors. `runs` are those of
/// find_executor_runs().
[[nodiscard]] std::vector<executor_occupant> find_occupants(const trace& loaded,
                                                            const std::vector<executor_run>& runs);

}  // namespace coroscope::analysis::inline executor_answers
