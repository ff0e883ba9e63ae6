// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places in this process at which a store has its trace's file mapped, for the SIGBUS handler:
// if another process cuts the file, the handler replaces the place that a thread touched by empty
// memory (sessions/crash_report.hpp).
//
// Threads: the store's owner sets and clears a place; a handler on any thread reads it.

#include <atomic>
#include <cstdint>

namespace coroscope::runtime::inline store {

class watched_place {
public:
    /// The caller must set a place before any thread accesses it.
    void set(void* at, std::uint64_t bytes) noexcept {
        bytes_.store(bytes, std::memory_order_relaxed);
        at_.store(at, std::memory_order_release);  // pairs with holds()
    }

    /// The caller must clear a place before it is unmapped.
    void clear() noexcept { at_.store(nullptr, std::memory_order_release); }

    bool holds(std::uintptr_t address) const noexcept {
        const auto at = reinterpret_cast<std::uintptr_t>(this->at());
        return at != 0 && address - at < bytes();
    }
    void* at() const noexcept { return at_.load(std::memory_order_acquire); }  // pairs with set()
    std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

private:
    std::atomic<void*> at_{nullptr};  // stored last
    std::atomic<std::uint64_t> bytes_{0};
};

struct watched_file {
    watched_place mapping;              ///< the mapping in which threads record
    watched_place view;                 ///< the view through which the stop seals the trace
    std::atomic<bool> replaced{false};  ///< one is empty memory now: the file was cut

    void forget() noexcept {
        mapping.clear();
        view.clear();
        replaced.store(false, std::memory_order_relaxed);
    }
};

}  // namespace coroscope::runtime::inline store
