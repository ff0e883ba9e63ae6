// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline events {

/// Sets the net memory of each CPU event. Adds rows for the records that lie in no event of which
/// averages are made (a Python function is not such an event). The rows are in order before and
/// after.
void link_memory(event_list& list);

}  // namespace coroscope::analysis::inline events
