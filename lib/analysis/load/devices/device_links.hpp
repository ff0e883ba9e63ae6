// SPDX-License-Identifier: Apache-2.0
#pragma once

// Links device activities to the rest of the model: to the task, the thread, the call and the scope
// that requested them, and to the suspensions that waited for them.

#include "../records/task_records.hpp"

namespace coroscope::analysis::inline devices {

/// Brings activities and waits into the model's order and fills in their references. Tasks, awaits
/// and events must be complete. Adds a thread to the model if it only called devices.
void link_devices(const task_records& records, const metadata& names, clock_map& clock,
                  trace& loaded);

}  // namespace coroscope::analysis::inline devices
