// SPDX-License-Identifier: Apache-2.0
#include "mutex_words.hpp"

namespace coroscope::interpose {

namespace {

[[gnu::noinline, gnu::cold]] void note_awaited_release(pthread_mutex_t* mutex) {
    const trace::lock_recorder* const to = connected_recorder();
    if (to != nullptr && will_release(*mutex)) interpose::note_release(mutex, to->now());
}

}  // namespace

// A thread that waits for a condition variable has no note for the mutex, so the mutex's own word
// is checked, too.
void note_mutex_release(pthread_mutex_t* mutex) {
    if (has_wait(mutex) || is_contended(*mutex)) [[unlikely]]
        note_awaited_release(mutex);
}

}  // namespace coroscope::interpose
