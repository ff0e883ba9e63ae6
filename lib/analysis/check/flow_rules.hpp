// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about the calls that a request makes one after the other.

#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

void find_repeated_calls(rule_context& context, std::vector<finding>& to);
void find_polling(rule_context& context, std::vector<finding>& to);
void find_retries(rule_context& context, std::vector<finding>& to);
void find_sequential_awaits(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
