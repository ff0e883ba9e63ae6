// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline events {

/// Gives the events that run deferred work, and the events below them, the stack of the place that
/// deferred the work.
void set_backward_stacks(event_list& list);

}  // namespace coroscope::analysis::inline events
