// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules that compare requests of one type with each other.

#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// Some requests of a type take much longer than the others.
void find_slow_groups(rule_context& context, std::vector<finding>& to);

/// The first requests of a type take much longer than the later ones.
void find_cold_starts(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
