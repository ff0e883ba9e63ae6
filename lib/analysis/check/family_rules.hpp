// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about tasks that work for a request together.

#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// One child of several, which run at the same time, takes much longer than the others.
void find_slowest_children(rule_context& context, std::vector<finding>& to);

/// A request goes from one executor to another one and back, again and again.
void find_ping_pong(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
