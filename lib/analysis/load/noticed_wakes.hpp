// SPDX-License-Identifier: Apache-2.0
#pragma once

// Wakes by the reactor of a busy thread.

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline loading {

/// Gives the wakes of which wake_ns is an upper bound the reason `noticed`: the awaited object is a
/// socket, a file or a serial port, no task woke the task, and the waking thread had run a task
/// within the wait. If the trace shows that the thread waited in the kernel after that task, it
/// waited for the event, and the wake is exact. Must be called after the states of threads are
/// known.
void mark_noticed_wakes(trace& loaded);

}  // namespace coroscope::analysis::inline loading
