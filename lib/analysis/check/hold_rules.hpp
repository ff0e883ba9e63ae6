// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about locks and resources.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// Returns the missing facts if no wait for a lock or a resource could have been recorded.
[[nodiscard]] std::string lacks_locks(const check_input& input);
[[nodiscard]] std::string lacks_resources(const check_input& input);

/// The kinds of the tasks (check_input::kind_of) that hold the locks and resources of findings.
[[nodiscard]] std::set<std::uint32_t> kinds_of_holders(check_input& input);

void find_held_locks(rule_context& context, std::vector<finding>& to);
void find_contended_locks(rule_context& context, std::vector<finding>& to);
void find_exhausted_pools(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
