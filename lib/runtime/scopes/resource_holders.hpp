// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who has, or had a moment ago, a resource that several can have: a semaphore, a pool. A waiter
// finds here a release that came during its wait, by work that had acquired the resource before the
// wait began. Work that releases what somebody else acquired is not found.
//
// The memory is fixed: a resource remembers up to sixteen acquisitions, and shares them with
// resources whose numbers are the same modulo 64. If there is no room, an acquisition is not
// remembered.
//
// Threads: any; nothing here allocates, locks or waits.

#include <cstdint>

namespace coroscope::runtime::inline scopes {

/// A use of a resource that has ended. Marks are those of the acquisition and of the release; times
/// are in ticks.
struct ended_hold {
    std::uint64_t holder = 0;  ///< 0: none was found
    std::uint64_t releaser = 0;
    std::uint64_t released = 0;
};

/// The work of that mark has acquired the resource of that number.
void remember_holder(std::uint32_t resource, std::uint64_t mark, std::uint64_t acquired) noexcept;

/// The work of that mark releases the resource. Ends its latest acquisition, if that is remembered:
/// the same task's or, outside tasks, the same thread's.
void remember_release(std::uint32_t resource, std::uint64_t mark, std::uint64_t released) noexcept;

/// Returns the last hold that began before `start` and ended after it.
ended_hold find_ended_hold(std::uint32_t resource, std::uint64_t start) noexcept;

/// A session begins: acquisitions from before are forgotten, because it does not know their tasks.
void forget_holders() noexcept;

}  // namespace coroscope::runtime::inline scopes
