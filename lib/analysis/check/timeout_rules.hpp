// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rule about time-outs.

#include <string>
#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// Returns the missing facts if no outcome of an await is known.
[[nodiscard]] std::string lacks_outcomes(const check_input& input);

/// Time-outs end most of the attempts that they guard.
void find_timeouts(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
