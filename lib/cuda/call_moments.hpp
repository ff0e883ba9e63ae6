// SPDX-License-Identifier: Apache-2.0
#pragma once

// When calls began, read on the session's clock by the threads that made them: for a CUPTI that cannot be given that
// clock, and writes its own into records. Numbers of calls rise, so that the places hold the latest ones.
//
// Any thread notes; one at a time asks and forgets.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coroscope::cuda {

class call_moments {
public:
    void note(std::uint32_t correlation, std::uint64_t ticks) noexcept {
        place& at = places_[correlation % place_count];
        at.call.store(0, std::memory_order_relaxed);
        at.ticks.store(ticks,
                       std::memory_order_release);  // pairs with find(): it sees what is before
        at.call.store(key(correlation), std::memory_order_release);
    }

    /// 0: not known (any more). A call of the driver inside one of the runtime has its number, and its moment.
    [[nodiscard]] std::uint64_t find(std::uint32_t correlation) const noexcept {
        const place& at = places_[correlation % place_count];
        if (at.call.load(std::memory_order_acquire) != key(correlation)) return 0;
        const std::uint64_t ticks = at.ticks.load(std::memory_order_acquire);
        return at.call.load(std::memory_order_relaxed) == key(correlation) ? ticks : 0;
    }

    void forget() noexcept {
        for (place& each : places_) each.call.store(0, std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t place_count = 1U << 16;
    struct place {
        std::atomic<std::uint64_t> ticks{0};
        std::atomic<std::uint64_t> call{0};  ///< 0: none
    };
    static constexpr std::uint64_t key(std::uint32_t correlation) noexcept {
        return std::uint64_t{1} << 32 | correlation;
    }
    place places_[place_count];
};

}  // namespace coroscope::cuda
