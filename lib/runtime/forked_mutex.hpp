// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock that a forked child finds free, whatever its parent's other threads were doing: the fork waits for it. For what
// the runtime does not know by name, the integrations' locks above all; its own stand in environment.cpp.
//
// Not to be held by whoever forks: what is called under it must not.

#include <cstdint>
#include <mutex>

namespace coroscope::runtime {

/// Who takes two of them takes the outer one first, and so does the fork.
enum class fork_order : std::uint8_t { outer, inner };

class forked_mutex {
public:
    explicit constexpr forked_mutex(fork_order order) noexcept : order_(order) {}
    forked_mutex(const forked_mutex&) = delete;
    forked_mutex& operator=(const forked_mutex&) = delete;

    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    friend class held_over_forks;

    std::mutex mutex_;
    forked_mutex* next_ = nullptr;
    fork_order order_;
};

/// From here on, as long as the process lives. Once for each.
void hold_over_forks(forked_mutex& added) noexcept;

/// Around a fork: those that are held over it, and the list of them.
void lock_all_for_fork() noexcept;
void unlock_all_after_fork() noexcept;

}  // namespace coroscope::runtime
