// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the members of the GNU C library's mutexes and reader-writer locks, which its headers
// declare.

#include <cstdint>

#include <pthread.h>
#include <unistd.h>

#include "waited_lock.hpp"

namespace coroscope::interpose {

// In __kind: the low two bits are the type, the others properties.
inline constexpr int kind_type = 3;
inline constexpr int kind_robust = 16;
inline constexpr int kind_inherits = 32;
inline constexpr int kind_protects = 64;  // has a priority ceiling
inline constexpr int kind_of_processes = 128;

// The kinds that must not be tried before they are locked. The attempt differs from the lock: glibc
// 2.36 keeps a robust mutex that is not recoverable locked if an attempt has failed, and an attempt
// may change the thread's priority.
inline constexpr int kinds_not_to_try = kind_robust | kind_inherits | kind_protects;

// In __lock of robust and inheriting mutexes.
inline constexpr std::uint32_t owner_mask = 0x3fff'ffff;
inline constexpr std::uint32_t owner_died = 0x4000'0000;
inline constexpr std::uint32_t has_waiters = 0x8000'0000;

// In __lock of the other kinds: threads may wait in the kernel. The bits above state_mask have the
// priority ceiling.
inline constexpr std::uint32_t contended = 2;
inline constexpr std::uint32_t state_mask = 0x7'ffff;

// In __readers: below the number of readers.
inline constexpr unsigned write_locked = 3;
inline constexpr unsigned readers_shift = 3;

template <class Word>
Word load_word(const Word& from) {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

inline bool has_kind(const pthread_mutex_t& mutex, int kinds) {
    return (load_word(mutex.__data.__kind) & kinds) != 0;
}

/// Returns whether the lock word has the id of the owner. Such a mutex may be robust: if an owner
/// dies, __owner has another number until the mutex is consistent again.
inline bool has_owner_in_word(const pthread_mutex_t& mutex) {
    return has_kind(mutex, kind_robust | kind_inherits);
}

inline std::uint32_t word_of(const pthread_mutex_t& mutex) {
    return static_cast<std::uint32_t>(load_word(mutex.__data.__lock));
}

/// Returns the kernel's id of the thread that holds the mutex; 0: none, or unknown.
inline std::uint32_t holder_of(const pthread_mutex_t& mutex) {
    return has_owner_in_word(mutex) ? word_of(mutex) & owner_mask
                                    : static_cast<std::uint32_t>(load_word(mutex.__data.__owner));
}

/// Returns whether threads may wait for the mutex in the kernel.
inline bool is_contended(const pthread_mutex_t& mutex) {
    return has_owner_in_word(mutex) ? (word_of(mutex) & has_waiters) != 0
                                    : (word_of(mutex) & state_mask) == contended;
}

/// Returns whether another thread holds the mutex, so that the calling thread has to wait. The
/// mutex must be of kinds_not_to_try.
inline bool is_held_by_another(const pthread_mutex_t& mutex) {
    const std::uint32_t word = word_of(mutex);
    if (has_owner_in_word(mutex))
        return (word & owner_mask) != 0 && (word & owner_died) == 0 &&
               (word & owner_mask) != static_cast<std::uint32_t>(::gettid());
    return (word & state_mask) != 0 && load_word(mutex.__data.__owner) != ::gettid();
}

inline lock_view view_of(const pthread_mutex_t& mutex) {
    return {holder_of(mutex), has_kind(mutex, kind_of_processes)};
}

/// Returns whether an unlock by the calling thread releases the mutex. A recursive mutex may stay
/// locked, and some kinds refuse a thread that does not hold them.
inline bool will_release(const pthread_mutex_t& mutex) {
    const int kind = load_word(mutex.__data.__kind);
    const int type = kind & kind_type;
    const bool checks_owner = type == PTHREAD_MUTEX_RECURSIVE_NP ||
                              type == PTHREAD_MUTEX_ERRORCHECK_NP ||
                              (kind & (kind_robust | kind_inherits)) != 0;
    if (!checks_owner) return true;
    if (holder_of(mutex) != static_cast<std::uint32_t>(::gettid())) return false;
    return type != PTHREAD_MUTEX_RECURSIVE_NP || load_word(mutex.__data.__count) == 1;
}

inline lock_view view_of(const pthread_rwlock_t& lock) {
    const bool by_writer = (load_word(lock.__data.__readers) & write_locked) == write_locked;
    return {by_writer ? static_cast<std::uint32_t>(load_word(lock.__data.__cur_writer)) : 0,
            load_word(lock.__data.__shared) != 0};
}

/// Whether the calling thread, which holds the lock, is the only holder.
inline bool is_only_holder(const pthread_rwlock_t& lock) {
    const unsigned state = load_word(lock.__data.__readers);
    return (state & write_locked) == write_locked || state >> readers_shift == 1;
}

/// Notes the release of a mutex if threads wait for it. The calling thread must hold the mutex, and
/// must release it next.
void note_mutex_release(pthread_mutex_t* mutex);

}  // namespace coroscope::interpose
