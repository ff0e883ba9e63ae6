// SPDX-License-Identifier: Apache-2.0
#include "resource_holders.hpp"

#include <atomic>
#include <cstddef>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline scopes {
namespace {

// States of an entry, instead of the ticks of its release.
constexpr std::uint64_t never_used = 0;
constexpr std::uint64_t is_held = ~std::uint64_t{0};
constexpr std::uint64_t in_change = is_held - 1;

// The thread that moves `released` to in_change owns the entry until it stores another value. A
// reader that finds the same ticks before and after has read one hold.
struct entry {
    std::atomic<std::uint64_t> released{never_used};
    std::atomic<std::uint64_t> resource{0};
    std::atomic<std::uint64_t> holder{0};
    std::atomic<std::uint64_t> acquired{0};
    std::atomic<std::uint64_t> releaser{0};
};

constexpr std::size_t bucket_count = 64;
constexpr std::size_t bucket_size = most_holders;
constinit entry table[bucket_count][bucket_size];

auto& bucket_of(std::uint32_t resource) noexcept { return table[resource % bucket_count]; }

std::uint64_t load(const std::atomic<std::uint64_t>& word) noexcept {
    return word.load(std::memory_order_relaxed);
}

constinit std::atomic<std::uint64_t> first_task_of_session{0};

bool is_same_task(std::uint64_t one, std::uint64_t other) noexcept {
    return trace::mark_task(one) == trace::mark_task(other);
}

bool is_held_by(const entry& each, std::uint32_t resource, std::uint64_t mark) noexcept {
    return load(each.resource) == resource && is_same_task(load(each.holder), mark);
}

bool take(entry& from, std::uint64_t state) noexcept {
    // Acquire: pairs with the release in give(), so that the owner's stores come after the last
    // owner's.
    return from.released.compare_exchange_strong(state, in_change, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed);
}

void give(entry& to, std::uint64_t state) noexcept {
    to.released.store(state, std::memory_order_release);  // pairs with take() and read()
}

// Returns the entry whose hold ended first, or null.
entry* oldest_ended(std::uint32_t resource, std::uint64_t& state) noexcept {
    entry* found = nullptr;
    state = in_change;
    for (entry& each : bucket_of(resource)) {
        const std::uint64_t released = load(each.released);
        if (released >= state) continue;
        state = released;
        found = &each;
    }
    return found;
}

// Returns the latest acquisition of that task, or null.
entry* latest_held(std::uint32_t resource, std::uint64_t mark) noexcept {
    entry* found = nullptr;
    for (entry& each : bucket_of(resource)) {
        // Acquire: pairs with give().
        if (each.released.load(std::memory_order_acquire) != is_held ||
            !is_held_by(each, resource, mark))
            continue;
        if (found == nullptr || load(found->acquired) < load(each.acquired)) found = &each;
    }
    return found;
}

// Returns the entry's hold, if it has ended and is of that resource.
ended_hold read(const entry& from, std::uint32_t resource, std::uint64_t start) noexcept {
    // Acquire: pairs with give().
    const std::uint64_t released = from.released.load(std::memory_order_acquire);
    if (released >= in_change || released <= start) return {};
    const bool began_before = load(from.resource) == resource && load(from.acquired) <= start;
    const ended_hold hold{load(from.holder), load(from.releaser), released};
    // An owner's first store to the entry would be seen by one of the loads above, and then so is
    // its in_change by the next.
    std::atomic_thread_fence(std::memory_order_acquire);
    return began_before && load(from.released) == released ? hold : ended_hold{};
}

}  // namespace

void remember_holder(std::uint32_t resource, std::uint64_t mark, std::uint64_t acquired) noexcept {
    std::uint64_t state = never_used;
    entry* at = oldest_ended(resource, state);
    // A task that acquires again and again, and leaves the release to others, fills no bucket.
    if (at == nullptr) {
        at = latest_held(resource, mark);
        state = is_held;
    }
    if (at == nullptr || !take(*at, state)) return;
    // Release: a reader that sees one of these stores sees in_change.
    std::atomic_thread_fence(std::memory_order_release);
    at->resource.store(resource, std::memory_order_relaxed);
    at->holder.store(mark, std::memory_order_relaxed);
    at->acquired.store(acquired, std::memory_order_relaxed);
    give(*at, is_held);
}

bool remember_release(std::uint32_t resource, std::uint64_t mark, std::uint64_t released) noexcept {
    entry* const at = latest_held(resource, mark);
    if (at == nullptr || !take(*at, is_held)) return false;
    // As a session began, the entry may have been given to another task in between.
    const bool is_ours = is_held_by(*at, resource, mark);
    if (is_ours) at->releaser.store(mark, std::memory_order_relaxed);
    give(*at, is_ours ? released : is_held);
    return is_ours;
}

ended_hold find_ended_hold(std::uint32_t resource, std::uint64_t start,
                           std::uint64_t waiter) noexcept {
    ended_hold first;
    for (const entry& each : bucket_of(resource)) {
        const ended_hold hold = read(each, resource, start);
        if (hold.holder != 0 && (first.holder == 0 || hold.released < first.released)) first = hold;
    }
    return is_same_task(first.holder, waiter) ? ended_hold{} : first;
}

void forget_holders(std::uint64_t first_task) noexcept {
    first_task_of_session.store(first_task, std::memory_order_relaxed);
    for (auto& bucket : table)
        for (entry& each : bucket) {
            const std::uint64_t released = load(each.released);
            if (released != never_used && take(each, released)) give(each, never_used);
        }
}

bool is_older_than_session(std::uint64_t mark) noexcept {
    return trace::mark_task(mark) < load(first_task_of_session);
}

}  // namespace coroscope::runtime::inline scopes
