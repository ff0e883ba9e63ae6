// SPDX-License-Identifier: Apache-2.0
#pragma once

// Delays on the critical paths of requests.

#include <cstdint>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/saturated.hpp>

namespace coroscope::analysis::inline checks {

/// Time of paths that belongs to no recorded work.
struct stalled_time {
    std::int64_t preempted_ns = 0;  ///< a thread had work, but no processor
    std::int64_t idle_ns = 0;       ///< a task was queued for a thread that ran no recorded task
    [[nodiscard]] std::int64_t total_ns() const noexcept {
        return saturated_sum(preempted_ns, idle_ns);
    }
    void add(const stalled_time& other) noexcept {
        add_to(preempted_ns, other.preempted_ns);
        add_to(idle_ns, other.idle_ns);
    }
};

/// Queued time of a path that is charged to a run of other work.
struct queue_delay {
    std::uint32_t request = 0;      ///< index into check_input::requests()
    std::uint32_t victim = none;    ///< the queued task
    std::uint32_t executor = none;  ///< for which it was queued
    std::uint32_t blocker = none;   ///< the task that ran; none: a thread outside tasks
    std::uint32_t scope = none;     ///< its innermost scope: index into trace::events
    std::uint32_t thread = none;    ///< its thread
    std::int64_t from_ns = 0;       ///< the queued time
    std::int64_t to_ns = 0;
    std::int64_t time_ns = 0;  ///< the charged part, in which the thread had a processor or blocked
    bool is_unproven = false;  ///< the states of the thread are missing: it may have had none
};

/// Time of a path that is charged to the holder of a lock or of a resource.
struct hold_delay {
    std::uint32_t request = 0;
    std::uint32_t waiter = none;         ///< task
    std::uint32_t waiter_scope = none;   ///< index into trace::events
    std::uint32_t holder = none;         ///< task; none: outside tasks
    std::uint32_t holder_scope = none;   ///< index into trace::events
    std::uint32_t holder_thread = none;  ///< the holder's thread, if it was on one
    std::uint32_t resource = none;       ///< index into trace::resource_waits
    std::uint64_t lock_address = 0;
    path_kind kind = path_kind::unknown;  ///< the state of the holder
    std::int64_t from_ns = 0;
    std::int64_t time_ns = 0;
    bool is_unproven = false;  ///< facts about the holder are missing: it may have been ready
};

/// Time of a path in a task that the request did not create, and that woke the request later.
struct turn_delay {
    std::uint32_t request = 0;
    std::uint32_t worker = none;  ///< the task
    /// The outermost scope of the worker that is not open during all of the wait: index into
    /// trace::events; none: there is no such scope.
    std::uint32_t item = none;
    std::uint32_t await = none;  ///< the worker's own wait: index into trace::awaits
    path_kind kind = path_kind::unknown;
    std::int64_t wait_end_ns = 0;  ///< when the worker woke the request
    std::int64_t from_ns = 0;
    std::int64_t time_ns = 0;
};

}  // namespace coroscope::analysis::inline checks
