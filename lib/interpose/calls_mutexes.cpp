// SPDX-License-Identifier: Apache-2.0

// Mutexes and spin locks, by their POSIX names and by those of C11.

#include <threads.h>

#include "mutex_words.hpp"
#include "plain_mutex.hpp"
#include "real_function.hpp"
#include "waited_lock.hpp"

namespace coroscope::interpose {
namespace {

using try_lock = real_function<"pthread_mutex_trylock", pthread_mutex_t*>;
using lock = real_function<"pthread_mutex_lock", pthread_mutex_t*>;
using timed_lock = real_function<"pthread_mutex_timedlock", pthread_mutex_t*, const timespec*>;
using clock_lock =
    real_function<"pthread_mutex_clocklock", pthread_mutex_t*, clockid_t, const timespec*>;
using unlock = real_function<"pthread_mutex_unlock", pthread_mutex_t*>;

using spin_try_lock = real_function<"pthread_spin_trylock", pthread_spinlock_t*>;
using spin_lock = real_function<"pthread_spin_lock", pthread_spinlock_t*>;
using spin_unlock = real_function<"pthread_spin_unlock", pthread_spinlock_t*>;

using c_try_lock = real_function<"mtx_trylock", mtx_t*>;
using c_lock = real_function<"mtx_lock", mtx_t*>;
using c_timed_lock = real_function<"mtx_timedlock", mtx_t*, const timespec*>;
using c_unlock = real_function<"mtx_unlock", mtx_t*>;

[[gnu::constructor(101)]] void find_mutexes() noexcept {
    const int before = errno;
    try_lock::find(), lock::find(), timed_lock::find(), clock_lock::find(), unlock::find();
    spin_try_lock::find(), spin_lock::find(), spin_unlock::find();
    c_try_lock::find(), c_lock::find(), c_timed_lock::find(), c_unlock::find();
    errno = before;
}

// C11's mutex has the same words.
pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }

/// Waits for a mutex. `attempt` and `wait` are as for wait_for().
template <class Attempt, class Wait>
[[gnu::always_inline]] inline int wait_for_mutex(pthread_mutex_t* mutex, int busy, int timed_out,
                                                 Attempt attempt, Wait wait) {
    return interpose::wait_for(mutex, lock_kind::mutex, busy, timed_out, attempt, wait,
                               [=] { return view_of(*mutex); });
}

/// Locks a mutex. Calls `wait` without an attempt before it if the mutex must not be tried
/// (kinds_not_to_try) and no other thread holds it, or if `refused`: the C library may refuse the
/// arguments.
template <class Attempt, class Wait>
[[gnu::always_inline]] inline int take(pthread_mutex_t* mutex, int busy, int timed_out,
                                       Attempt attempt, Wait wait, bool refused = false) {
    if (has_kind(*mutex, kinds_not_to_try)) [[unlikely]] {
        const auto attempt_or_see = [=] { return is_held_by_another(*mutex) ? busy : wait(); };
        if (!is_held_by_another(*mutex)) return wait();
        return wait_for_mutex(mutex, busy, timed_out, attempt_or_see, wait);
    }
    if (refused) return wait();
    if (const int result = attempt(); result != busy) return result;
    return wait_for_mutex(mutex, busy, timed_out, attempt, wait);
}

template <class Wait>
[[gnu::always_inline]] inline int take(pthread_mutex_t* mutex, Wait wait, bool refused = false) {
    return take(mutex, EBUSY, ETIMEDOUT, [=] { return try_lock::call(mutex); }, wait, refused);
}

template <class Wait>
[[gnu::always_inline]] inline int take(mtx_t* mutex, Wait wait, bool refused = false) {
    return take(
        posix(mutex), thrd_busy, thrd_timedout, [=] { return c_try_lock::call(mutex); }, wait,
        refused);
}

}  // namespace

COROSCOPE_LOCK(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until)) {
    return take(mutex, [=] { return timed_lock::call(mutex, until); }, !is_sound(until));
}

COROSCOPE_LOCK(pthread_mutex_clocklock,
               (pthread_mutex_t * mutex, clockid_t clock, const timespec* until)) {
    return take(
        mutex, [=] { return clock_lock::call(mutex, clock, until); }, !is_sound(until, clock));
}

COROSCOPE_LOCK(mtx_lock, (mtx_t * mutex)) {
    return take(mutex, [=] { return c_lock::call(mutex); });
}

COROSCOPE_LOCK(mtx_timedlock, (mtx_t * mutex, const timespec* until)) {
    return take(mutex, [=] { return c_timed_lock::call(mutex, until); }, !is_sound(until));
}

COROSCOPE_LOCK(mtx_unlock, (mtx_t * mutex)) {
    if (any_thread_waits()) [[unlikely]]
        note_mutex_release(posix(mutex));
    return c_unlock::call(mutex);
}

COROSCOPE_LOCK(pthread_spin_lock, (pthread_spinlock_t * lock)) {
    if (const int result = spin_try_lock::call(lock); result != EBUSY) return result;
    return interpose::wait_for(
        const_cast<int*>(lock), lock_kind::spin, EBUSY, ETIMEDOUT,
        [=] { return spin_try_lock::call(lock); }, [=] { return spin_lock::call(lock); },
        [] { return lock_view{}; });
}

COROSCOPE_LOCK(pthread_spin_unlock, (pthread_spinlock_t * lock)) {
    if (any_thread_waits() && has_wait(const_cast<int*>(lock))) [[unlikely]]
        interpose::note_release(const_cast<int*>(lock), connected_recorder()->now());
    return spin_unlock::call(lock);
}

}  // namespace coroscope::interpose

int coroscope_lock_held(pthread_mutex_t* mutex) {
    using namespace coroscope::interpose;
    return wait_for_mutex(
        mutex, EBUSY, ETIMEDOUT, [=] { return try_lock::call(mutex); },
        [=] { return lock::call(mutex); });
}

int coroscope_lock_untried(pthread_mutex_t* mutex) {
    using namespace coroscope::interpose;
    return take(mutex, [=] { return lock::call(mutex); });
}

int coroscope_unlock_awaited(pthread_mutex_t* mutex) {
    using namespace coroscope::interpose;
    note_mutex_release(mutex);
    return unlock::call(mutex);
}
