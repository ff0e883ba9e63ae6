// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "readings.hpp"

namespace coroscope::tools {

/// Starts a thread that waits for a mutex, and reads its files below /proc/self/task.
void try_threads(thread_trial& found);

/// Locks a mutex and a rwlock, and reads their holders in the way in which the recorder must.
void try_locks(lock_trial& found);

}  // namespace coroscope::tools
