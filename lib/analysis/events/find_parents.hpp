// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline events {

/// Sets each row's parent. The rows must be in order.
void find_parents(event_list& list);

}  // namespace coroscope::analysis::inline events
