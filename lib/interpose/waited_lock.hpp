// SPDX-License-Identifier: Apache-2.0
#pragma once

// The wait for a lock that another thread holds, and the report of the wait. The caller first tries
// to lock without waiting, and calls the functions below only if that fails.
//
// No function is noexcept or has an object with a destructor, because a cancellation may unwind
// through them, and a jump may leave them.

#include <cerrno>
#include <cstdint>
#include <ctime>

#include <pthread.h>

#include "lock_notes.hpp"

namespace coroscope::interpose {

// The C library calls these handlers if a cancellation, an end of the thread or a jump leaves the
// function. For C++ its headers use a class instead, which needs the runtime library of C++.
extern "C" {
void push_cleanup(_pthread_cleanup_buffer* handler, void (*routine)(void*),
                  void* with) __asm__("_pthread_cleanup_push");
void pop_cleanup(_pthread_cleanup_buffer* handler, int execute) __asm__("_pthread_cleanup_pop");
}

using trace::lock_kind;

/// Facts about a lock, read from its members.
struct lock_view {
    std::uint32_t holder = 0;      ///< the kernel's id of the thread; 0: unknown
    bool is_of_processes = false;  ///< other processes may release it, unseen by this library
};

/// Returns whether a thread waits for any lock. The load is plain, so that a compare instruction
/// can make it.
[[gnu::always_inline]] inline bool any_thread_waits() { return waiting_threads != 0; }

inline const trace::lock_recorder* connected_recorder() {
    return __atomic_load_n(&lock_recorder, __ATOMIC_ACQUIRE);
}

/// A thread's wait that may be recorded.
struct begun_wait {
    const void* lock;
    lock_kind kind;
    std::uint64_t began;  ///< ticks
};

inline void report_wait(const begun_wait& wait, const lock_view& seen, bool gave_up) {
    trace::interposed_wait ended{wait.lock, wait.began, {}, seen.holder, wait.kind, 0};
    if (gave_up)
        ended.bits = trace::lock_wait_gave_up;
    else if (!seen.is_of_processes)
        ended.released = interpose::last_release(wait.lock);
    connected_recorder()->end(ended);
}

/// Calls `body`, then `forget(of)`, also if a cancellation or a jump leaves the body. Returns the
/// result of `body`.
template <class Body>
[[gnu::always_inline]] inline int forget_after(void (*forget)(void*), const void* of, Body body) {
    _pthread_cleanup_buffer handler;
    push_cleanup(&handler, forget, const_cast<void*>(of));
    const int result = body();
    pop_cleanup(&handler, true);
    return result;
}

/// Waits for a lock. `attempt` must lock it, or return `busy` if it is held. `wait` must wait for
/// it, and `view` must read the members of the held lock. The caller must have made an attempt.
///
/// A second attempt follows the note of the wait. If it fails, the holder's release will be noted,
/// or has already begun.
template <class Attempt, class Wait, class View>
[[gnu::noinline, gnu::cold]] int wait_for(const void* lock, lock_kind kind, int busy, int timed_out,
                                          Attempt attempt, Wait wait, View view) {
    const trace::lock_recorder* const to = connected_recorder();
    const begun_wait begun{lock, kind, to == nullptr ? 0 : to->begin()};
    if (begun.began == 0) return wait();
    interpose::note_wait(lock);
    return interpose::forget_after([](void* of) { interpose::forget_wait(of); }, lock,
                                   [&] {
                                       if (const int result = attempt(); result != busy)
                                           return result;
                                       const lock_view seen = view();
                                       const int result = wait();
                                       if (result == 0 || result == timed_out ||
                                           result == EOWNERDEAD)
                                           interpose::report_wait(begun, seen, result == timed_out);
                                       return result;
                                   });
}

/// Returns whether the C library accepts the time and the clock, so that it would try to lock
/// before it reads the clock.
inline bool is_sound(const timespec* until, clockid_t clock = CLOCK_REALTIME) {
    constexpr long second_ns = 1'000'000'000;
    return until != nullptr && until->tv_nsec >= 0 && until->tv_nsec < second_ns &&
           (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC);
}

}  // namespace coroscope::interpose

// Declares the exported function `name`. Its definition has a name of its own in C++ and the
// function's name for the linker, as with COROSCOPE_CALL.
#define COROSCOPE_LOCK_DECLARED(name, parameters)                                                  \
    extern "C"                                                                                     \
        __attribute__((visibility("default"))) int interposed_##name parameters __asm__(#name)

// Begins the definition of the function.
#define COROSCOPE_LOCK(name, parameters)                                                           \
    COROSCOPE_LOCK_DECLARED(name, parameters);                                                     \
    int interposed_##name parameters

// Another name of a function of this source.
#define COROSCOPE_LOCK_ALIAS(name, of, parameters)                                                 \
    extern "C" __attribute__((visibility("default"),                                               \
                              alias(#of))) int interposed_##name parameters __asm__(#name)
