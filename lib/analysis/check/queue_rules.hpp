// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about the queues of executors.

#include <string>
#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// Returns the missing facts if no executor and no state of a thread is known.
[[nodiscard]] std::string lacks_queues(const check_input& input);

void find_blocking_calls(rule_context& context, std::vector<finding>& to);
void find_long_computations(rule_context& context, std::vector<finding>& to);
void find_small_executors(rule_context& context, std::vector<finding>& to);
void find_hot_strands(rule_context& context, std::vector<finding>& to);
void find_slow_jobs_ahead(rule_context& context, std::vector<finding>& to);
void find_pauses(rule_context& context, std::vector<finding>& to);
void find_inversions(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
