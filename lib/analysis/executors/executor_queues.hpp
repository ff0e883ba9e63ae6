// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "executor_runs.hpp"
#include <coroscope/analysis/executor_statistics.hpp>

namespace coroscope::analysis::inline executor_answers {

/// Returns the lengths of the queue of these jobs. Jobs that were not queued for a time are left
/// out.
[[nodiscard]] std::vector<queue_step> steps_of(const std::vector<queued_job>& jobs);

/// Fills the figures of the length. executor_statistics::span_ns must be set.
void measure_queue(const std::vector<queue_step>& steps, executor_statistics& into);

}  // namespace coroscope::analysis::inline executor_answers
