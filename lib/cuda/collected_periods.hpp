// SPDX-License-Identifier: Apache-2.0
#pragma once

// The periods of collection. A session may switch collection off and on. While collection is off,
// threads do not follow their tasks, and the ids that they gave CUPTI before stay in effect. So
// when collection is on again, the threads use ids with another number. A call with an older number
// belongs to no task if it began after the end of that number's period.
//
// Not thread-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace coroscope::cuda {

class collected_periods {
public:
    /// Numbers have this many bits and start again.
    static constexpr unsigned number_bits = 20;
    static constexpr std::uint32_t number_mask = (1U << number_bits) - 1;

    /// Begins a session with this number.
    void begin(std::uint32_t number) noexcept {
        *this = {};
        number_ = number;
    }

    /// Must be called when collection is switched off.
    void pause(std::uint64_t ticks) noexcept { paused_at_ = ticks; }

    /// Must be called when collection is switched on again, with this number.
    void resume(std::uint64_t ticks, std::uint32_t number) noexcept {
        gaps_[gaps_begun_++ % kept_gaps] = {paused_at_, ticks, number_};
        number_ = number;
        paused_at_ = never;
    }

    bool is_paused() const noexcept { return paused_at_ != never; }

    /// Returns whether collection was on at that moment. Returns true if the moment is older than
    /// the kept gaps.
    bool includes(std::uint64_t ticks) const noexcept {
        return ticks < paused_at_ &&
               std::none_of(
                   gaps_, gaps_ + used(),
                   [ticks](const gap& each) { return each.from <= ticks && ticks < each.to; });
    }

    /// Returns whether a call that began at `ticks` may have this number. Returns false if it is
    /// older than the kept gaps.
    bool was_used(std::uint32_t number, std::uint64_t ticks) const noexcept {
        if (number == number_) return ticks < paused_at_;
        return std::any_of(gaps_, gaps_ + used(), [number, ticks](const gap& each) {
            return each.number == number && ticks < each.from;
        });
    }

private:
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    static constexpr std::size_t kept_gaps = 64;
    struct gap {
        std::uint64_t from = 0;
        std::uint64_t to = 0;
        std::uint32_t number = 0;  ///< the number before the gap
    };
    std::size_t used() const noexcept { return std::min(gaps_begun_, kept_gaps); }

    gap gaps_[kept_gaps] = {};
    std::size_t gaps_begun_ = 0;
    std::uint64_t paused_at_ = never;
    std::uint32_t number_ = 0;
};

}  // namespace coroscope::cuda
