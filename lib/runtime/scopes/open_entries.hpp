// SPDX-License-Identifier: Apache-2.0
#pragma once

// Entries of open scopes, and the pools that threads take them from.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <coroscope/trace/open_format.hpp>

#include "../base/compiler_barrier.hpp"

namespace coroscope::runtime::inline scopes {
struct open_pool;
}

namespace coroscope::detail {

struct open_entry {
    // Crash reports read these, too. If `ticks` is 0, the entry is free.
    std::atomic<std::uint64_t> ticks{0};
    std::atomic<std::uint64_t> mark{0};
    std::atomic<std::uint64_t> tag{0};  ///< as in trace::open_scope, without the check
    std::atomic<std::uint32_t> order{0};

    std::uint32_t number = 0;            ///< the index of its place in each session's open_table
    trace::open_scope* place = nullptr;  ///< its place in a session's trace
    std::uint32_t generation = 0;        ///< the session of `place`
    open_entry* next = nullptr;          ///< while it is free
    runtime::open_pool* pool = nullptr;  ///< its owner
};

}  // namespace coroscope::detail

namespace coroscope::runtime::inline scopes {

using detail::open_entry;

struct open_block {
    static constexpr std::uint32_t size = 32;

    open_block* next;
    open_entry entries[size];
};

/// A pool of entries, which belongs to one thread at a time.
struct open_pool {
    open_entry* free = nullptr;
    /// While the thread changes `free`: a stack address in the function that does so. Else null.
    /// While it is set, signal handlers must not change `free`.
    const void* changing = nullptr;
    std::uint32_t order = 0;
    std::atomic<open_entry*> returned{nullptr};  ///< given back by other threads and by handlers
    std::atomic<open_block*> blocks{nullptr};
    open_pool* next = nullptr;       ///< in the list of all pools
    open_pool* next_idle = nullptr;  ///< in the list of pools without a thread

    /// Only for the pool's thread. Returns a free entry. Returns null if there is none, or if the
    /// caller is a handler that interrupts a change.
    [[gnu::always_inline]] open_entry* take() noexcept {
        if (changing != nullptr) [[unlikely]]
            return nullptr;
        const change under_way(*this);
        open_entry* taken = free;
        if (taken == nullptr) [[unlikely]]
            taken = returned.exchange(nullptr, std::memory_order_acquire);  // give_back()
        if (taken != nullptr) [[likely]]
            free = taken->next;
        return taken;
    }

    /// Only for the pool's thread.
    [[gnu::always_inline]] void put(open_entry& entry) noexcept {
        if (changing != nullptr) [[unlikely]]
            return give_back(entry);
        const change under_way(*this);
        entry.next = free;
        free = &entry;
    }

    /// For any thread.
    void give_back(open_entry& entry) noexcept {
        entry.next = returned.load(std::memory_order_relaxed);
        while (!returned.compare_exchange_weak(entry.next, &entry, std::memory_order_release,
                                               std::memory_order_relaxed)) {
        }  // pairs with take()
    }

    /// For a handler that interrupts a change. Returns an entry that was given back, or null.
    open_entry* take_returned() noexcept {
        open_entry* const taken = returned.exchange(nullptr, std::memory_order_acquire);
        open_entry* rest = taken == nullptr ? nullptr : taken->next;
        while (rest != nullptr) {
            open_entry& given = *rest;
            rest = rest->next;
            give_back(given);
        }
        return taken;
    }

private:
    class change {
    public:
        [[gnu::always_inline]] explicit change(open_pool& pool) noexcept : pool_(pool) {
            pool_.changing = &here_;
            compiler_barrier();
        }
        change(const change&) = delete;
        change& operator=(const change&) = delete;
        [[gnu::always_inline]] ~change() {
            compiler_barrier();
            pool_.changing = nullptr;
        }

    private:
        open_pool& pool_;
        char here_;
    };
};

/// Returns a pool without a thread, or a new pool; null if memory is short. Takes locks.
open_pool* find_open_pool() noexcept;

/// Adds entries and returns one of them. Returns null if memory is short or there are too many
/// entries. Only for the pool's thread. Takes a lock.
open_entry* grow(open_pool& pool) noexcept;

/// Must be called when no thread has the pool any more, under the registry's lock.
void make_idle(open_pool& pool) noexcept;

/// Returns the first pool of the list of all pools. Lock-free.
open_pool* first_open_pool() noexcept;

}  // namespace coroscope::runtime::inline scopes
