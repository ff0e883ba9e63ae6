// SPDX-License-Identifier: Apache-2.0

// Waits for condition variables. The C library locks the mutex again at the end of a wait, which
// this library does not see. It is known, however, that the thread needed the mutex from the
// notification on, and could not have it before its last release. The recorder leaves out waits
// that are no longer than a wake-up takes.

#include <threads.h>

#include "mutex_words.hpp"
#include "real_function.hpp"
#include "waited_lock.hpp"

namespace coroscope::interpose {
namespace {

using wait = real_function<"pthread_cond_wait", pthread_cond_t*, pthread_mutex_t*>;
using timed_wait =
    real_function<"pthread_cond_timedwait", pthread_cond_t*, pthread_mutex_t*, const timespec*>;
using clock_wait = real_function<"pthread_cond_clockwait", pthread_cond_t*, pthread_mutex_t*,
                                 clockid_t, const timespec*>;
using signal = real_function<"pthread_cond_signal", pthread_cond_t*>;
using broadcast = real_function<"pthread_cond_broadcast", pthread_cond_t*>;

using c_wait = real_function<"cnd_wait", cnd_t*, mtx_t*>;
using c_timed_wait = real_function<"cnd_timedwait", cnd_t*, mtx_t*, const timespec*>;
using c_signal = real_function<"cnd_signal", cnd_t*>;
using c_broadcast = real_function<"cnd_broadcast", cnd_t*>;

[[gnu::constructor(101)]] void find_conditions() noexcept {
    const int before = errno;
    wait::find(), timed_wait::find(), clock_wait::find(), signal::find(), broadcast::find();
    c_wait::find(), c_timed_wait::find(), c_signal::find(), c_broadcast::find();
    errno = before;
}

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }

void report_locked_again(const condition_wait& waited, const pthread_mutex_t* mutex) {
    const notifications noted = waited.noted();
    if (noted.number == 0 || view_of(*mutex).is_of_processes) return;
    const trace::lock_moment released = interpose::last_release(mutex);
    if (released.ticks <= noted.last_ticks) return;
    // Any of several notifications may have been this thread's.
    const std::uint32_t bits = noted.number > 1 ? trace::lock_wait_began_before : 0U;
    connected_recorder()->end({mutex, noted.last_ticks, released, 0, lock_kind::condition, bits});
}

/// Waits, and reports the wait for the mutex after it.
template <class Wait>
[[gnu::always_inline]] inline int wait_noted(const void* condition, pthread_mutex_t* mutex,
                                             Wait body) {
    if (any_thread_waits()) note_mutex_release(mutex);
    const trace::lock_recorder* const to = connected_recorder();
    if (to == nullptr || to->begin() == 0) return body();
    const condition_wait waited(condition);
    note_waiting_thread();
    const int result =
        interpose::forget_after([](void* /*none*/) { forget_waiting_thread(); }, nullptr, body);
    if (result == 0) report_locked_again(waited, mutex);
    return result;
}

}  // namespace

COROSCOPE_LOCK(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex)) {
    return wait_noted(condition, mutex, [=] { return wait::call(condition, mutex); });
}

COROSCOPE_LOCK(pthread_cond_timedwait,
               (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until)) {
    return wait_noted(condition, mutex, [=] { return timed_wait::call(condition, mutex, until); });
}

COROSCOPE_LOCK(pthread_cond_clockwait, (pthread_cond_t * condition, pthread_mutex_t* mutex,
                                        clockid_t clock, const timespec* until)) {
    return wait_noted(condition, mutex,
                      [=] { return clock_wait::call(condition, mutex, clock, until); });
}

COROSCOPE_LOCK(pthread_cond_signal, (pthread_cond_t * condition)) {
    interpose::note_notification(condition);
    return signal::call(condition);
}

COROSCOPE_LOCK(pthread_cond_broadcast, (pthread_cond_t * condition)) {
    interpose::note_notification(condition);
    return broadcast::call(condition);
}

COROSCOPE_LOCK(cnd_wait, (cnd_t * condition, mtx_t* mutex)) {
    return wait_noted(condition, posix(mutex), [=] { return c_wait::call(condition, mutex); });
}

COROSCOPE_LOCK(cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* until)) {
    return wait_noted(condition, posix(mutex),
                      [=] { return c_timed_wait::call(condition, mutex, until); });
}

COROSCOPE_LOCK(cnd_signal, (cnd_t * condition)) {
    interpose::note_notification(condition);
    return c_signal::call(condition);
}

COROSCOPE_LOCK(cnd_broadcast, (cnd_t * condition)) {
    interpose::note_notification(condition);
    return c_broadcast::call(condition);
}

}  // namespace coroscope::interpose
