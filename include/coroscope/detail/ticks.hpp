// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tick clock, at the lowest cost that the processor offers.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

/// Returns CLOCK_MONOTONIC in nanoseconds, for machines without a usable counter.
COROSCOPE_API std::uint64_t monotonic_ticks() noexcept;

/// Returns the processor's counter. It is a valid clock only if the runtime found it invariant;
/// otherwise gate_slow_clock is set on every thread.
[[gnu::always_inline]] inline std::uint64_t counter_ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return detail::monotonic_ticks();
#endif
}

}  // namespace coroscope::detail
