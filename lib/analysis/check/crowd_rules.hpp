// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about many tasks that do the same at the same moment.

#include <string>
#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// Requests that miss a cache while another one already makes the missing value.
void find_stampedes(rule_context& context, std::vector<finding>& to);

/// Many tasks are woken at once, and most of them wait again at once.
void find_herds(rule_context& context, std::vector<finding>& to);

/// Returns the missing facts if the trace may lack calls.
[[nodiscard]] std::string lacks_completeness(const check_input& input);

}  // namespace coroscope::analysis::inline checks
