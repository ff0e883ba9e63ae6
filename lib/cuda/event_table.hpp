// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last recording of each event. An event that is not in the table is unknown, because it was
// recorded before the session or without a callback. It is never guessed. Thread-safe.

#include <cstddef>
#include <mutex>
#include <new>
#include <unordered_map>

#include <coroscope/detail/device_recorder.hpp>

namespace coroscope::cuda {

class event_table {
public:
    /// The table's size. Further events stay unknown.
    static constexpr std::size_t most = 1U << 16;

    void record(const void* event, const detail::device_event& at) noexcept {
        const std::lock_guard lock(mutex_);
        if (entry* of = place(event)) of->last = of->elsewhere ? detail::device_event{} : at;
    }

    /// Marks an event that may be recorded without a callback from now on, until it is destroyed.
    void leave(const void* event) noexcept {
        const std::lock_guard lock(mutex_);
        if (entry* of = place(event)) *of = {{}, true};
    }

    void forget(const void* event) noexcept {
        const std::lock_guard lock(mutex_);
        events_.erase(event);
    }
    void forget_all() noexcept {
        const std::lock_guard lock(mutex_);
        events_.clear();
    }

    [[nodiscard]] detail::device_event find(const void* event) const noexcept {
        const std::lock_guard lock(mutex_);
        const auto found = events_.find(event);
        return found == events_.end() ? detail::device_event{} : found->second.last;
    }

private:
    struct entry {
        detail::device_event last;
        bool elsewhere = false;
    };

    entry* place(const void* event) noexcept {
        const auto known = events_.find(event);
        if (known != events_.end()) return &known->second;
        if (events_.size() == most) return nullptr;
        try {
            return &events_[event];
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    mutable std::mutex mutex_;
    std::unordered_map<const void*, entry> events_;
};

}  // namespace coroscope::cuda
