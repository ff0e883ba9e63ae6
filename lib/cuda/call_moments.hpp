// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the start times of calls. Each calling thread reads the session's clock when its call
// begins. They are needed if CUPTI cannot use the session's clock and writes times of its own clock
// into records. A call's correlation number selects its place. The numbers rise, so a later call
// replaces an earlier one.
//
// Any thread may call note(). Only one thread at a time may call find() and forget().

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
                       std::memory_order_release);  // pairs with find(), which sees the store above
        at.call.store(key(correlation), std::memory_order_release);
    }

    /// Returns 0 if the start is unknown, or was replaced by that of a later call. A driver call
    /// inside a runtime call has the number and the start of the runtime call.
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
