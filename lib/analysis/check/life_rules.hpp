// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about tasks that do not end, or not by themselves.

#include <string>
#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// Returns the missing facts if other threads may have run tasks unseen.
[[nodiscard]] std::string lacks_threads(const check_input& input);

void find_lost_wakes(rule_context& context, std::vector<finding>& to);
void find_destroyed_tasks(rule_context& context, std::vector<finding>& to);
void find_growing_tasks(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
