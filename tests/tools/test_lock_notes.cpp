// SPDX-License-Identifier: Apache-2.0

// Tests the notes of the preloaded library. Its objects are linked into this program, so that its
// functions replace those of the C library here.

#include <doctest/doctest.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <iterator>

#include <pthread.h>
#include <sched.h>

#include "lib/interpose/lock_notes.hpp"
#include "lib/interpose/plain_mutex.hpp"
#include "lib/trace/interposed_locks.hpp"

extern "C" {
void coroscope_connect_locks_1(const coroscope::trace::lock_recorder* to) noexcept;
#if defined(__x86_64__)
extern int (*coroscope_unlock)(pthread_mutex_t*);  // to which pthread_mutex_unlock() jumps
#endif
}

namespace {

using coroscope::trace::interposed_wait;
using coroscope::trace::lock_moment;
using coroscope::trace::lock_recorder;

constinit int reported = 0;

constexpr lock_recorder recorder{
    []() noexcept -> std::uint64_t { return 1; }, []() noexcept { return lock_moment{1, 0}; },
    [](const interposed_wait&) noexcept { __atomic_fetch_add(&reported, 1, __ATOMIC_RELAXED); }};

std::uint32_t waiting() {
    return __atomic_load_n(&coroscope::interpose::waiting_threads, __ATOMIC_ACQUIRE);
}

/// Returns whether pthread_mutex_unlock() jumps to the C library's function.
bool unlocks_plainly() {
#if defined(__x86_64__)
    return __atomic_load_n(&coroscope_unlock, __ATOMIC_ACQUIRE) != coroscope_unlock_awaited;
#else
    return waiting() == 0;
#endif
}

void await_waiting(std::uint32_t number) {
    while (waiting() != number) ::sched_yield();
}

pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void release(void* mutex) { ::pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex)); }

void* wait_for_ever(void* /*none*/) {
    ::pthread_mutex_lock(&guard);
    pthread_cleanup_push(release, &guard);
    while (true) ::pthread_cond_wait(&changed, &guard);
    pthread_cleanup_pop(1);
    return nullptr;
}

sigjmp_buf out;
bool has_jumped = false;

void* lock_until_jump(void* /*none*/) {
    if (sigsetjmp(out, 1) == 0) {
        ::pthread_mutex_lock(&guard);
        ::pthread_mutex_unlock(&guard);
    } else {
        has_jumped = true;
    }
    return nullptr;
}

TEST_CASE("A wait for a lock is counted until it ends, and reported once") {
    coroscope_connect_locks_1(&recorder);
    const int before = reported;
    pthread_t thread{};
    ::pthread_mutex_lock(&guard);
    ::pthread_create(
        &thread, nullptr,
        [](void* mutex) -> void* {
            ::pthread_mutex_lock(static_cast<pthread_mutex_t*>(mutex));
            release(mutex);
            return nullptr;
        },
        &guard);
    await_waiting(1);
    CHECK(coroscope::interpose::has_wait(&guard));
    CHECK_FALSE(unlocks_plainly());
    // Gives the thread time for its attempts to lock.
    for (int yields = 0; yields < 1000; ++yields) ::sched_yield();
    ::pthread_mutex_unlock(&guard);
    ::pthread_join(thread, nullptr);
    CHECK(waiting() == 0);
    CHECK_FALSE(coroscope::interpose::has_wait(&guard));
    CHECK(reported - before <= 1);
}

TEST_CASE("A wait for a condition variable is not counted after it was cancelled") {
    coroscope_connect_locks_1(&recorder);
    for (int round = 0; round < 3; ++round) {
        pthread_t thread{};
        ::pthread_create(&thread, nullptr, wait_for_ever, nullptr);
        await_waiting(1);
        ::pthread_cancel(thread);
        void* result = nullptr;
        ::pthread_join(thread, &result);
        CHECK(result == PTHREAD_CANCELED);
        CHECK(waiting() == 0);
        CHECK(unlocks_plainly());
    }
}

TEST_CASE("A wait is not counted after a signal handler has jumped out of it") {
    coroscope_connect_locks_1(&recorder);
    std::signal(SIGUSR1, [](int) { siglongjmp(out, 1); });
    ::pthread_mutex_lock(&guard);
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, lock_until_jump, nullptr);
    await_waiting(1);
    // Gives the thread time to set its handler.
    for (int yields = 0; yields < 1000; ++yields) ::sched_yield();
    ::pthread_kill(thread, SIGUSR1);
    ::pthread_join(thread, nullptr);
    ::pthread_mutex_unlock(&guard);
    CHECK(has_jumped);
    CHECK(waiting() == 0);
    CHECK_FALSE(coroscope::interpose::has_wait(&guard));
}

TEST_CASE("When many threads have waited, unlocks are the C library's again, and none was missed") {
    coroscope_connect_locks_1(&recorder);
    static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    static long sums[2] = {};
    pthread_t threads[4];
    for (std::size_t at = 0; at < std::size(threads); ++at)
        ::pthread_create(
            &threads[at], nullptr,
            [](void* number) -> void* {
                const auto which = reinterpret_cast<std::uintptr_t>(number) % 2;
                for (int round = 0; round < 20'000; ++round) {
                    ::pthread_mutex_lock(&locks[which]);
                    ++sums[which];
                    if (round % 64 == 0) ::sched_yield();
                    ::pthread_mutex_unlock(&locks[which]);
                }
                return nullptr;
            },
            reinterpret_cast<void*>(at));
    for (const pthread_t each : threads) ::pthread_join(each, nullptr);
    CHECK(sums[0] == 40'000);
    CHECK(sums[1] == 40'000);
    CHECK(waiting() == 0);
    CHECK(unlocks_plainly());
}

}  // namespace
