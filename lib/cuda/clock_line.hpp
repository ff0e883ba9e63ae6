// SPDX-License-Identifier: Apache-2.0
#pragma once

// Nanoseconds as a line through the session's tick clock. CUPTI calls us for its timestamps. So the
// times that it takes on the host are on our clock, and CUPTI converts device times to our clock.
// The inverse returns the ticks to within a nanosecond, whatever the clock's true rate is. A
// process has one line, which must not change while records of an earlier session may still come.

#include <cstdint>

#include <coroscope/trace/format.hpp>

namespace coroscope::cuda {

struct clock_line {
    std::uint64_t base_ticks = 0;
    std::uint64_t base_ns = 0;
    std::uint64_t ns_per_tick = std::uint64_t{1} << fraction_bits;  ///< fixed point

    static constexpr unsigned fraction_bits = 40;
    __extension__ using wide = unsigned __int128;

    /// Returns the line through two moments. The second must be later, on both clocks.
    static clock_line through(const trace::clock_point& first,
                              const trace::clock_point& second) noexcept {
        const auto ns = static_cast<std::uint64_t>(second.monotonic_ns - first.monotonic_ns);
        const std::uint64_t ticks = second.ticks - first.ticks;
        return {second.ticks, static_cast<std::uint64_t>(second.realtime_ns),
                static_cast<std::uint64_t>((wide{ns} << fraction_bits) / ticks)};
    }

    std::uint64_t ns_at(std::uint64_t ticks) const noexcept {
        if (ticks >= base_ticks) return base_ns + scale(ticks - base_ticks);
        return base_ns - scale(base_ticks - ticks);
    }
    std::uint64_t ticks_at(std::uint64_t ns) const noexcept {
        if (ns >= base_ns) return base_ticks + unscale(ns - base_ns);
        const std::uint64_t before = unscale(base_ns - ns);
        return before < base_ticks ? base_ticks - before : 0;
    }

private:
    std::uint64_t scale(std::uint64_t ticks) const noexcept {
        return static_cast<std::uint64_t>(wide{ticks} * ns_per_tick >> fraction_bits);
    }
    // Rounded up: the first tick of that nanosecond.
    std::uint64_t unscale(std::uint64_t ns) const noexcept {
        return static_cast<std::uint64_t>(((wide{ns} << fraction_bits) + ns_per_tick - 1) /
                                          ns_per_tick);
    }
};

}  // namespace coroscope::cuda
