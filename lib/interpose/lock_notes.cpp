// SPDX-License-Identifier: Apache-2.0
#include "lock_notes.hpp"

#include <cstddef>

#include <pthread.h>

#include "plain_mutex.hpp"

namespace coroscope::interpose {

constinit const trace::lock_recorder* lock_recorder = nullptr;
constinit std::uint32_t waiting_threads = 0;

namespace {

constexpr std::size_t places = 1024;
constexpr std::size_t condition_places = 256;

/// The last release of one lock. `version` is odd while a thread writes.
struct alignas(32) release_note {
    std::uint32_t version;
    const void* lock;
    std::uint64_t ticks;
    std::uint64_t mark;
};

/// The notifications of one condition variable. `epoch` counts the variables that had the place.
struct alignas(32) notification_note {
    const void* condition;
    std::uint32_t epoch;
    std::uint32_t number;
    std::uint64_t last_ticks;
};

constinit std::uint32_t waiting[places] = {};
constinit release_note releases[places] = {};
constinit notification_note notified[condition_places] = {};

std::size_t place_of(const void* object, std::size_t of) noexcept {
    const auto address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object) >> 3);
    return (address * 0x9e3779b1U >> 16) % of;
}

template <class Value>
Value load(const Value& from) noexcept {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}
template <class Value>
void store(Value& to, Value value) noexcept {
    __atomic_store_n(&to, value, __ATOMIC_RELAXED);
}

/// Called in a forked child. It has no other threads that wait, and the fork may have come while
/// another thread wrote a note.
void forget_all() noexcept {
    store(waiting_threads, 0U);
    unlock_plainly();
    for (std::uint32_t& each : waiting) store(each, 0U);
    for (release_note& each : releases) each = {};
    for (notification_note& each : notified) each = {};
}

[[gnu::constructor(101)]] void join_forks() noexcept {
    ::pthread_atfork(nullptr, nullptr, forget_all);
}

/// Does nothing if the count is 0: a fork during the wait has reset it.
void decrement(std::uint32_t& count) noexcept {
    std::uint32_t before = load(count);
    while (before != 0 && !__atomic_compare_exchange_n(&count, &before, before - 1, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

}  // namespace

void note_wait(const void* lock) noexcept {
    __atomic_fetch_add(&waiting[place_of(lock, places)], 1U, __ATOMIC_SEQ_CST);
    note_waiting_thread();
    // Orders the note before the caller's next attempt to lock. If that attempt fails, the thread
    // that took the lock meanwhile sees the note at its release.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void forget_wait(const void* lock) noexcept {
    forget_waiting_thread();
    decrement(waiting[place_of(lock, places)]);
}

void note_waiting_thread() noexcept {
    __atomic_fetch_add(&waiting_threads, 1U, __ATOMIC_SEQ_CST);
    unlock_with_notes();
}

void forget_waiting_thread() noexcept {
    decrement(waiting_threads);
    unlock_plainly();
}

bool has_wait(const void* lock) noexcept { return load(waiting[place_of(lock, places)]) != 0; }

// A lock has one writer of its note at a time: its holder, or readers that write the same. If
// another lock's writer is at work in the place, this note is dropped.
void note_release(const void* lock, trace::lock_moment when) noexcept {
    release_note& note = releases[place_of(lock, places)];
    std::uint32_t version = load(note.version);
    if (version % 2 != 0 || !__atomic_compare_exchange_n(&note.version, &version, version + 1,
                                                         false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    store(note.lock, lock);
    store(note.ticks, when.ticks);
    store(note.mark, when.mark);
    __atomic_store_n(&note.version, version + 2, __ATOMIC_RELEASE);
}

trace::lock_moment last_release(const void* lock) noexcept {
    const release_note& note = releases[place_of(lock, places)];
    const std::uint32_t version = __atomic_load_n(&note.version, __ATOMIC_ACQUIRE);
    const trace::lock_moment found{load(note.ticks), load(note.mark)};
    const bool is_of_lock = load(note.lock) == lock;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const bool whole = version % 2 == 0 && load(note.version) == version;
    return whole && is_of_lock ? found : trace::lock_moment{};
}

condition_wait::condition_wait(const void* condition) noexcept : condition_(condition) {
    notification_note& note = notified[place_of(condition, condition_places)];
    if (load(note.condition) != condition) {
        store(note.condition, condition);
        __atomic_fetch_add(&note.epoch, 1U, __ATOMIC_RELAXED);
    }
    epoch_ = load(note.epoch);
    number_ = load(note.number);
}

notifications condition_wait::noted() const noexcept {
    const notification_note& note = notified[place_of(condition_, condition_places)];
    const notifications found{load(note.number) - number_, load(note.last_ticks)};
    const bool is_the_same = load(note.condition) == condition_ && load(note.epoch) == epoch_;
    return is_the_same ? found : notifications{};
}

void note_notification(const void* condition) noexcept {
    notification_note& note = notified[place_of(condition, condition_places)];
    if (load(note.condition) != condition) return;
    const std::uint64_t ticks = __atomic_load_n(&lock_recorder, __ATOMIC_ACQUIRE)->now().ticks;
    std::uint64_t before = load(note.last_ticks);
    while (before < ticks && !__atomic_compare_exchange_n(&note.last_ticks, &before, ticks, true,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&note.number, 1U, __ATOMIC_RELEASE);
}

}  // namespace coroscope::interpose

// The name is coroscope::trace::connect_locks_name. The first recorder of the process stays.
extern "C" __attribute__((visibility("default"))) void
coroscope_connect_locks_1(const coroscope::trace::lock_recorder* to) noexcept {
    const coroscope::trace::lock_recorder* none = nullptr;
    __atomic_compare_exchange_n(&coroscope::interpose::lock_recorder, &none, to, false,
                                __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
