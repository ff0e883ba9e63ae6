// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about frames and the recording itself.

#include <string>
#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

[[nodiscard]] std::string lacks_frames(const check_input& input);

void find_large_frames(rule_context& context, std::vector<finding>& to);
void find_recording_trouble(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
