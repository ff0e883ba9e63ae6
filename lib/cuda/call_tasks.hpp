// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the task of each correlation number. CUPTI reports a number before its call, and the call
// before or after the activity that it requested. Numbers rise and start again after 2^32. Each
// place of the table keeps the latest number that belongs there. An activity that is older than the
// call in its place has an unknown task, never another call's task. The reader of the trace can
// still find that task in the call's own record.
//
// Not thread-safe.

#include <cstddef>
#include <cstdint>

#include "collected_periods.hpp"

namespace coroscope::cuda {

class call_tasks {
public:
    /// Announces that the next call with this number belongs to this task, if the call is made
    /// while `period` is in use.
    void announce(std::uint32_t correlation, std::uint64_t task, std::uint32_t period) noexcept {
        place& at = place_of(correlation);
        const bool again = at.correlation == correlation && at.end != 0;
        at = {task,
              again ? later_than_all : 0,
              0,
              correlation,
              period & collected_periods::number_mask,
              true};
    }

    /// Returns the task of a call that took from `start` to `end`; 0: none. A driver call inside a
    /// runtime call has that call's number.
    std::uint64_t of_call(std::uint32_t correlation, std::uint64_t start, std::uint64_t end,
                          const collected_periods& collected) noexcept {
        place& at = place_of(correlation);
        const bool known = at.correlation == correlation;
        const bool same_call = known && !at.announced && start < at.end && end > at.start;
        if (!same_call) {
            at = {known ? announced_task(at, start, collected) : 0,
                  start,
                  end,
                  correlation,
                  0,
                  false};
        } else {
            at.start = start < at.start ? start : at.start;
            at.end = end > at.end ? end : at.end;
        }
        return at.task;
    }

    /// Returns the task of an activity that began at `start`.
    std::uint64_t of_activity(std::uint32_t correlation, std::uint64_t start,
                              const collected_periods& collected) const noexcept {
        const place& at = places_[correlation % place_count];
        if (at.correlation != correlation || at.start > start) return 0;
        return at.announced ? announced_task(at, start, collected) : at.task;
    }

    void forget() noexcept {
        for (place& each : places_) each = {};
    }

private:
    static constexpr std::size_t place_count = 1U << 16;
    static constexpr std::uint64_t later_than_all = ~std::uint64_t{0};
    struct place {
        std::uint64_t task = 0;
        /// Start of the call. later_than_all: not reported yet, and an earlier call had the number.
        std::uint64_t start = 0;
        std::uint64_t end = 0;  ///< 0: the call is not reported yet
        std::uint32_t correlation = 0;
        std::uint32_t period : collected_periods::number_bits = 0;  ///< valid if `announced`
        std::uint32_t announced : 1 = false;  ///< the call itself is not reported yet
    };
    static std::uint64_t announced_task(const place& at, std::uint64_t start,
                                        const collected_periods& collected) noexcept {
        return at.announced != 0 && collected.was_used(at.period, start) ? at.task : 0;
    }
    place& place_of(std::uint32_t correlation) noexcept {
        return places_[correlation % place_count];
    }
    place places_[place_count];
};

}  // namespace coroscope::cuda
