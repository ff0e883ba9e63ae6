// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tick clock, as cheap as the processor has it.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

/// CLOCK_MONOTONIC in nanoseconds, for machines whose counter cannot be trusted.
COROSCOPE_API std::uint64_t monotonic_ticks() noexcept;

/// The processor's counter. Right as a clock only where the runtime found it invariant; gate_slow_clock
/// is set on every thread elsewhere.
[[gnu::always_inline]] inline std::uint64_t counter_ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return monotonic_ticks();
#endif
}

}  // namespace coroscope::detail
