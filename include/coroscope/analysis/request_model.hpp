// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model's part for marked requests and for values. model.hpp describes times, unknown values
// and thread-safety.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/index_range.hpp>

namespace coroscope::analysis {

/// The end of a request.
enum class request_end : std::uint8_t {
    completed,
    failed,      ///< an exception ended it, or the program called fail()
    abandoned,   ///< destroyed while it was suspended, or before it ran
    unfinished,  ///< it had not ended when the session stopped, or its end was lost
};

/// One request.
struct request_info {
    std::uint64_t id = 0;         ///< requests count from 1, by their start
    std::uint32_t name = none;    ///< its type: index into trace::strings
    std::uint32_t site = none;    ///< index into trace::sites; none for run-time labels
    std::uint32_t event = none;   ///< its scope or range; none: the whole task is the request
    std::uint32_t task = none;    ///< the task in which it began; none outside tasks
    std::uint32_t thread = none;  ///< the thread on which it began; none for a whole task
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;  ///< the session's end if it is unfinished
    optional_ns deadline_ns;  ///< the longest time that it may take
    request_end end = request_end::completed;
    bool clipped = false;   ///< it began before the session
    bool left_out = false;  ///< by sampling: nothing but the request itself is recorded

    [[nodiscard]] std::int64_t wall_ns() const noexcept { return end_ns - start_ns; }
    [[nodiscard]] bool is_late() const noexcept { return deadline_ns && wall_ns() > *deadline_ns; }
    /// Whether its wall time is that of a whole request.
    [[nodiscard]] bool is_whole() const noexcept {
        return !clipped && (end == request_end::completed || end == request_end::failed);
    }
};

/// A change of the interval, the number of requests of which one is recorded in full.
struct interval_change {
    std::int64_t time_ns = 0;  ///< begin of the first request under the new interval
    std::uint32_t interval = 1;
    std::uint32_t before = 1;
    std::uint32_t cost_ppm = 0;  ///< estimate, of the process's processor time; 0: unknown
};

/// The sampling of requests in a session.
struct request_sampling {
    std::uint32_t interval = 1;            ///< at the end of the session
    std::uint32_t least_interval = 1;      ///< at its start; the budget sets no smaller one
    std::uint32_t budget_ppm = 0;          ///< of the process's processor time; 0: no budget
    std::uint32_t cost_ppm = 0;            ///< estimate for the last period; 0: unknown
    std::uint32_t changes = 0;             ///< number of changes of the interval
    std::vector<interval_change> changed;  ///< the changes that were recorded, by time

    /// Whether the session may have left requests out.
    [[nodiscard]] bool is_on() const noexcept { return least_interval > 1 || budget_ppm != 0; }
};

/// One number that the program recorded.
struct value_info {
    std::int64_t time_ns = 0;
    double number = 0;
    std::uint32_t site = none;    ///< its label and place: index into trace::sites
    std::uint32_t thread = none;  ///< index into trace::threads
    std::uint32_t task = none;    ///< index into trace::tasks; none outside tasks
    std::uint32_t scope = none;   ///< the innermost open scope: index into trace::events
};

}  // namespace coroscope::analysis
