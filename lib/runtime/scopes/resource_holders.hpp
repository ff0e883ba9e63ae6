// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tasks that have, or had a moment ago, a resource that several can have: a semaphore, a pool.
// A waiter finds here a release that came during its wait, by a task that had acquired the resource
// before the wait began. A task that releases elements of others is not found.
//
// The memory is fixed: a resource remembers up to sixteen acquisitions, and shares them with
// resources whose numbers are the same modulo 64. If there is no room, an acquisition is not
// remembered.
//
// Threads: any; nothing here allocates, locks or waits.

#include <cstdint>

namespace coroscope::runtime::inline scopes {

inline constexpr std::uint32_t most_holders = 16;  ///< of one resource

/// A use of a resource that has ended. Marks are those of the acquisition and of the release; times
/// are in ticks.
struct ended_hold {
    std::uint64_t holder = 0;  ///< 0: none was found
    std::uint64_t releaser = 0;
    std::uint64_t released = 0;
};

/// The task of that mark has acquired the resource of that number.
void remember_holder(std::uint32_t resource, std::uint64_t mark, std::uint64_t acquired) noexcept;

/// The task of that mark releases the resource. Ends its latest acquisition. Returns false if none
/// is remembered.
bool remember_release(std::uint32_t resource, std::uint64_t mark, std::uint64_t released) noexcept;

/// Returns the first hold to end after `start` of those that began before, if it is another task's
/// than the waiter's.
ended_hold find_ended_hold(std::uint32_t resource, std::uint64_t start,
                           std::uint64_t waiter) noexcept;

/// A session begins: earlier acquisitions are forgotten, because it does not know their tasks.
/// Later tasks have ids from `first_task` on.
void forget_holders(std::uint64_t first_task) noexcept;

/// Returns whether the task may have acquired something before the session began.
bool is_older_than_session(std::uint64_t mark) noexcept;

}  // namespace coroscope::runtime::inline scopes
