// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline events {

/// Sorts the rows by (start ascending, end descending). Equal rows keep their order.
void order_rows(event_list& list);

}  // namespace coroscope::analysis::inline events
