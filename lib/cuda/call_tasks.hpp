// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which task a correlation number stands for. CUPTI tells it before the call that has the number, and the call
// before or after the activity that it asked for. Numbers rise, and begin again after 2^32: the table keeps the
// latest of each place, and an activity that is older than the call there is of an unknown task, never of another
// one. What it cannot tell the reader of the trace still finds by the call's own record.
//
// Not thread-safe.

#include <cstddef>
#include <cstdint>

#include "collected_periods.hpp"

namespace coroscope::cuda {

class call_tasks {
public:
    /// The next call with that number is of this task, if it is made while that was told under `period`.
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

    /// A call that took from `start` to `end`: its task, 0 for none. A call of the driver inside one of the runtime
    /// has its number.
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

    /// Something that a call asked for, which began at `start`.
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
        std::uint64_t start =
            0;  ///< of the call; later_than_all: not told yet, and another one had the number
        std::uint64_t end = 0;  ///< 0: the call is not told yet
        std::uint32_t correlation = 0;
        std::uint32_t period : collected_periods::number_bits = 0;  ///< where `announced`
        std::uint32_t announced : 1 = false;  ///< the call itself has not come
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
