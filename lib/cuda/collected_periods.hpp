// SPDX-License-Identifier: Apache-2.0
#pragma once

// While a session is on, its collection may be switched off and on again. Threads don't follow their tasks in between,
// and what they told CUPTI before stays told: so they tell it under another number from then on, and a call that an older
// number was told for belongs to nobody, if it began when that had had its time.
//
// Not thread-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace coroscope::cuda {

class collected_periods {
public:
    /// The number is of this many bits: it begins again.
    static constexpr unsigned number_bits = 20;
    static constexpr std::uint32_t number_mask = (1U << number_bits) - 1;

    /// A session begins, under this number.
    void begin(std::uint32_t number) noexcept {
        *this = {};
        number_ = number;
    }

    /// Nothing is collected from here on.
    void pause(std::uint64_t ticks) noexcept { paused_at_ = ticks; }

    /// It is again, under this number.
    void resume(std::uint64_t ticks, std::uint32_t number) noexcept {
        gaps_[gaps_begun_++ % kept_gaps] = {paused_at_, ticks, number_};
        number_ = number;
        paused_at_ = never;
    }

    bool is_paused() const noexcept { return paused_at_ != never; }

    /// Was anything collected at that moment? Yes, where that is further back than is kept.
    bool includes(std::uint64_t ticks) const noexcept {
        return ticks < paused_at_ &&
               std::none_of(
                   gaps_, gaps_ + used(),
                   [ticks](const gap& each) { return each.from <= ticks && ticks < each.to; });
    }

    /// May a call that began then have been made under that number? No, where it is further back.
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
        std::uint32_t number = 0;  ///< before it
    };
    std::size_t used() const noexcept { return std::min(gaps_begun_, kept_gaps); }

    gap gaps_[kept_gaps] = {};
    std::size_t gaps_begun_ = 0;
    std::uint64_t paused_at_ = never;
    std::uint32_t number_ = 0;
};

}  // namespace coroscope::cuda
