// SPDX-License-Identifier: Apache-2.0
#pragma once

// The slow paths of pthread_mutex_lock and pthread_mutex_unlock in plain_mutex.cpp.

#include <pthread.h>

extern "C" {
/// Waits for a mutex that another thread held a moment ago.
[[gnu::visibility("hidden")]] int coroscope_lock_held(pthread_mutex_t* mutex);
/// Locks a mutex that must not be tried (kinds_not_to_try).
[[gnu::visibility("hidden")]] int coroscope_lock_untried(pthread_mutex_t* mutex);
/// Unlocks a mutex while threads wait, possibly for this mutex.
[[gnu::visibility("hidden")]] int coroscope_unlock_awaited(pthread_mutex_t* mutex);
}

namespace coroscope::interpose {

/// From here on pthread_mutex_unlock() notes releases. Must be called by a thread that begins to
/// wait, when it is counted in `waiting_threads`.
void unlock_with_notes() noexcept;

/// From here on pthread_mutex_unlock() notes no release, unless a thread waits. Must be called
/// after a decrement of `waiting_threads`.
void unlock_plainly() noexcept;

}  // namespace coroscope::interpose
