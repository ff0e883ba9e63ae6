// SPDX-License-Identifier: Apache-2.0

// Reader-writer locks.

#include "mutex_words.hpp"
#include "real_function.hpp"
#include "waited_lock.hpp"

namespace coroscope::interpose {
namespace {

using try_read = real_function<"pthread_rwlock_tryrdlock", pthread_rwlock_t*>;
using read = real_function<"pthread_rwlock_rdlock", pthread_rwlock_t*>;
using timed_read = real_function<"pthread_rwlock_timedrdlock", pthread_rwlock_t*, const timespec*>;
using clock_read =
    real_function<"pthread_rwlock_clockrdlock", pthread_rwlock_t*, clockid_t, const timespec*>;
using try_write = real_function<"pthread_rwlock_trywrlock", pthread_rwlock_t*>;
using write = real_function<"pthread_rwlock_wrlock", pthread_rwlock_t*>;
using timed_write = real_function<"pthread_rwlock_timedwrlock", pthread_rwlock_t*, const timespec*>;
using clock_write =
    real_function<"pthread_rwlock_clockwrlock", pthread_rwlock_t*, clockid_t, const timespec*>;
using leave = real_function<"pthread_rwlock_unlock", pthread_rwlock_t*>;

[[gnu::constructor(101)]] void find_rwlocks() noexcept {
    const int before = errno;
    try_read::find(), read::find(), timed_read::find(), clock_read::find();
    try_write::find(), write::find(), timed_write::find(), clock_write::find(), leave::find();
    errno = before;
}

/// Locks by one attempt, else by the wait. `refused`: the C library refuses the arguments.
template <class Attempt, class Wait>
[[gnu::always_inline]] inline int take(pthread_rwlock_t* lock, lock_kind kind, Wait wait,
                                       bool refused = false) {
    if (refused) return wait();
    if (const int result = Attempt::call(lock); result != EBUSY) return result;
    return interpose::wait_for(
        lock, kind, EBUSY, ETIMEDOUT, [=] { return Attempt::call(lock); }, wait,
        [=] { return view_of(*lock); });
}

// If there are several readers, the last one to leave lets a writer go on. It is not known in
// advance which one that is, so the time of the release is then unknown.
[[gnu::noinline]] int leave_noted(pthread_rwlock_t* lock) {
    if (has_wait(lock))
        interpose::note_release(lock, is_only_holder(*lock) ? connected_recorder()->now()
                                                            : trace::lock_moment{});
    return leave::call(lock);
}

}  // namespace

COROSCOPE_LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock)) {
    return take<try_read>(lock, lock_kind::read, [=] { return read::call(lock); });
}

COROSCOPE_LOCK(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until)) {
    return take<try_read>(
        lock, lock_kind::read, [=] { return timed_read::call(lock, until); }, !is_sound(until));
}

COROSCOPE_LOCK(pthread_rwlock_clockrdlock,
               (pthread_rwlock_t * lock, clockid_t clock, const timespec* until)) {
    return take<try_read>(
        lock, lock_kind::read, [=] { return clock_read::call(lock, clock, until); },
        !is_sound(until, clock));
}

COROSCOPE_LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock)) {
    return take<try_write>(lock, lock_kind::write, [=] { return write::call(lock); });
}

COROSCOPE_LOCK(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until)) {
    return take<try_write>(
        lock, lock_kind::write, [=] { return timed_write::call(lock, until); }, !is_sound(until));
}

COROSCOPE_LOCK(pthread_rwlock_clockwrlock,
               (pthread_rwlock_t * lock, clockid_t clock, const timespec* until)) {
    return take<try_write>(
        lock, lock_kind::write, [=] { return clock_write::call(lock, clock, until); },
        !is_sound(until, clock));
}

COROSCOPE_LOCK(pthread_rwlock_unlock, (pthread_rwlock_t * lock)) {
    if (any_thread_waits()) [[unlikely]]
        return leave_noted(lock);
    return leave::call(lock);
}

COROSCOPE_LOCK_ALIAS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock, (pthread_rwlock_t * lock));
COROSCOPE_LOCK_ALIAS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock, (pthread_rwlock_t * lock));
COROSCOPE_LOCK_ALIAS(__pthread_rwlock_unlock, pthread_rwlock_unlock, (pthread_rwlock_t * lock));

}  // namespace coroscope::interpose
