// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ties what devices did to the rest of the model: the task, the thread, the call and the scope that
// asked for it, and the suspensions that waited for it.

#include "task_records.hpp"

namespace coroscope::analysis::loading {

/// Brings activities and waits into the model's order and fills in what they refer to. To be called when
/// tasks, awaits and events are complete. A thread that did nothing but call devices becomes one of the model's.
void link_devices(const task_records& records, const symbols& names, clock_map& clock,
                  trace& loaded);

}  // namespace coroscope::analysis::loading
