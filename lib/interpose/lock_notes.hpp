// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notes about contended locks: the locks with waiting threads, the last release of each, and the
// notifications of condition variables. The notes are in tables of fixed size. Two objects with the
// same place in a table overwrite each other's notes, which makes a fact unknown, never wrong.
//
// While no thread waits, an unlock reads at most `waiting_threads`. Only the release of an awaited
// lock reads the clock.
//
// Threads: any, also in signal handlers.

#include <cstdint>

#include "../trace/interposed_locks.hpp"

namespace coroscope::interpose {

/// The recorder; null until it has connected.
[[gnu::visibility("hidden")]] extern const trace::lock_recorder* lock_recorder;

/// The number of threads that wait for a lock or for a condition variable.
[[gnu::visibility("hidden")]] extern std::uint32_t
    waiting_threads __asm__("coroscope_waiting_threads");

/// Notes that the thread is about to wait for the lock. From then on each release of the lock is
/// noted, except by a holder that was releasing it already.
void note_wait(const void* lock) noexcept;
void forget_wait(const void* lock) noexcept;

/// Counts the thread as waiting, without a lock.
void note_waiting_thread() noexcept;
void forget_waiting_thread() noexcept;

/// Whether a thread waits for the lock, or for another one with the same place.
bool has_wait(const void* lock) noexcept;

/// Must be called before the release, by a thread that holds the lock.
void note_release(const void* lock, trace::lock_moment when) noexcept;

/// The last release that was noted. Unknown if another lock has taken its place.
trace::lock_moment last_release(const void* lock) noexcept;

/// Notifications of a condition variable.
struct notifications {
    std::uint32_t number = 0;
    std::uint64_t last_ticks = 0;
};

/// A wait for a condition variable.
class condition_wait {
public:
    /// The caller must hold the mutex.
    explicit condition_wait(const void* condition) noexcept;

    /// Returns the notifications since the start of the wait; none if they are unknown.
    [[nodiscard]] notifications noted() const noexcept;

private:
    const void* condition_;
    std::uint32_t epoch_;
    std::uint32_t number_;
};

/// Must be called before the notification.
void note_notification(const void* condition) noexcept;

}  // namespace coroscope::interpose
