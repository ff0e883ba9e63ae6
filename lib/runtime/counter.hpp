// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the processor's counter (x86-64) is a clock: what the processor, the kernel and the thread say of it.

namespace coroscope::runtime {

struct counter_facts {
    unsigned power_management = 0;  ///< EDX of CPUID's leaf 8000'0007; 0 where there is none
    bool readable = true;           ///< by this thread: PR_GET_TSC
    /// The kernel's list of clocks.
    const char* clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
};

/// Thread-safe. Changes errno.
bool counter_is_clock(const counter_facts& facts) noexcept;

}  // namespace coroscope::runtime
