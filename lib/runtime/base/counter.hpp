// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether the time-stamp counter (x86-64) can be used as a clock: the processor must call
// it invariant, the kernel must list it as a clock, and the thread must be allowed to read it.

namespace coroscope::runtime::inline base {

struct counter_facts {
    unsigned power_management =
        0;                 ///< EDX of CPUID leaf 8000'0007; 0 if the processor has no such leaf
    bool readable = true;  ///< by this thread: PR_GET_TSC
    /// The kernel's list of clocks.
    const char* clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
};

/// Thread-safe. Changes errno.
bool counter_is_clock(const counter_facts& facts) noexcept;

}  // namespace coroscope::runtime::inline base
