// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of the model about waits for the C library's locks. model.hpp describes times, unknown
// values and thread-safety.

#include <cstdint>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/trace/lock_format.hpp>

namespace coroscope::analysis {

/// A thread, and its work at a moment. `none`: unknown, or there was no task or no scope.
struct thread_work {
    std::uint32_t thread = none;  ///< index into trace::threads
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint32_t scope = none;   ///< innermost open scope: index into trace::events
};

/// One wait for a lock that another thread held.
struct lock_wait {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    optional_ns released_ns;         ///< the last release within the wait
    std::uint64_t address = 0;       ///< of the lock; of a condition's wait, of the mutex
    thread_work waiter;              ///< the scope at the start
    std::uint64_t holder_os_id = 0;  ///< the thread that held the lock at the start; 0: unknown
    thread_work holder;              ///< that thread's work at the start
    thread_work releaser;            ///< the thread of that release, at its moment
    coroscope::trace::lock_kind kind = coroscope::trace::lock_kind::unknown;
    bool gave_up = false;       ///< it ended without the lock
    bool began_before = false;  ///< it may have begun before start_ns: its length is a lower bound

    /// The holder if it is known, else the thread that released the lock.
    [[nodiscard]] const thread_work& blamed() const noexcept {
        return holder_os_id != 0 ? holder : releaser;
    }
    /// The time from the waiter's arrival to the release; unknown if one of them is.
    [[nodiscard]] optional_ns arrival_to_release_ns() const noexcept {
        if (!released_ns || began_before) return {};
        return *released_ns - start_ns;
    }
};

}  // namespace coroscope::analysis
