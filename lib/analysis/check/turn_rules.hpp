// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rule about tasks that serve requests one after the other.

#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// Requests wait for their turn at one task, which serves others before them.
void find_serial_workers(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
