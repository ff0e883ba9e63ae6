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

namespace coroscope::cuda {

class call_tasks {
public:
    /// The next call with that number is of this task.
    void announce(std::uint32_t correlation, std::uint64_t task) noexcept {
        place& at = place_of(correlation);
        const bool again = at.correlation == correlation && at.end != 0;
        at = {task, again ? later_than_all : 0, 0, correlation, true};
    }

    /// A call that took from `start` to `end`: its task, 0 for none. A call of the driver inside one of the runtime
    /// has its number.
    std::uint64_t of_call(std::uint32_t correlation, std::uint64_t start,
                          std::uint64_t end) noexcept {
        place& at = place_of(correlation);
        const bool known = at.correlation == correlation;
        const bool same_call = known && !at.announced && start < at.end && end > at.start;
        if (!same_call) {
            at = {known && at.announced ? at.task : 0, start, end, correlation, false};
        } else {
            at.start = start < at.start ? start : at.start;
            at.end = end > at.end ? end : at.end;
        }
        return at.task;
    }

    /// Something that a call asked for, which began at `start`.
    std::uint64_t of_activity(std::uint32_t correlation, std::uint64_t start) const noexcept {
        const place& at = places_[correlation % place_count];
        return at.correlation == correlation && at.start <= start ? at.task : 0;
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
        bool announced = false;  ///< the call itself has not come
    };
    place& place_of(std::uint32_t correlation) noexcept {
        return places_[correlation % place_count];
    }
    place places_[place_count];
};

}  // namespace coroscope::cuda
