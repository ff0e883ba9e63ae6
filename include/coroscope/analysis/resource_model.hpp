// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model's part for resources: the waits for mutexes, semaphores, pools and channels.
// model.hpp describes times, unknown values and thread-safety.

#include <cstdint>

#include <coroscope/analysis/index_range.hpp>

namespace coroscope::analysis {

/// One wait for a resource. Acquisitions without a wait are not recorded.
struct resource_wait {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    optional_ns released_ns;      ///< the release that ended the wait; lies within it
    std::uint32_t site = none;    ///< the resource's name: index into trace::sites
    std::uint32_t instance = 0;   ///< distinguishes resources of one name
    std::uint32_t capacity = 0;   ///< 0: unknown; 65535: that or more
    std::uint32_t task = none;    ///< current at the end of the wait: index into trace::tasks
    std::uint32_t thread = none;  ///< on which the wait ended: index into trace::threads
    /// The holder when the wait began, if it is known. If there were several: the first task
    /// that released the resource during the wait. `none`: outside tasks.
    std::uint32_t holder_task = none;
    /// On which it had acquired the resource. `none`: a thread that recorded nothing itself.
    std::uint32_t holder_thread = none;
    /// The innermost scope that was open at the holder when the wait began: index into
    /// trace::events.
    std::uint32_t holder_scope = none;
    std::uint32_t releaser_task = none;  ///< as for the holder: the code that released it
    std::uint32_t releaser_thread = none;
    bool holder_known = false;
    bool gave_up = false;  ///< it ended without the resource
    bool shared = false;   ///< it asked for a share, as a reader of a shared mutex does
    bool clipped = false;  ///< it began before the session
    /// The resource remembers all its holders. If none is known, the work that released the
    /// resource had not acquired it before the wait began.
    bool holders_noted = false;
};

}  // namespace coroscope::analysis
