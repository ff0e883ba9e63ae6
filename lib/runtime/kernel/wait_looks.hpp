// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cause of a thread's wait in the kernel: its system call, and the lock of a futex.
//
// Threads: one, which has private descriptors.

#include <cstdint>

#include <coroscope/trace/kernel_format.hpp>

#include "lock_holders.hpp"

namespace coroscope::runtime::inline kernel {

class wait_looks {
public:
    /// To be called once, before look().
    void begin() noexcept { holders_.learn(); }

    /// Fills in all but `since_ns` of a thread that waits. Returns false if it does not wait, has
    /// ended, or may not be looked at.
    bool look(std::uint32_t thread, trace::blocked_body& to) noexcept;

private:
    lock_holders holders_;
    bool is_refused_ = false;  // the program made its files private (PR_SET_DUMPABLE)
};

}  // namespace coroscope::runtime::inline kernel
