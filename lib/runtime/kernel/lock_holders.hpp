// SPDX-License-Identifier: Apache-2.0
#pragma once

// The thread that holds the lock at the address of a futex, as far as the C library's layout of
// locks shows it: mutexes, and writers of reader-writer locks. Memory is read by
// process_vm_readv(), so that an address that is not there any more does no harm.
//
// Threads: one.

#include <cstdint>

#include <coroscope/trace/kernel_format.hpp>

namespace coroscope::runtime::inline kernel {

/// The arguments of a futex call that waits.
struct futex_wait_call {
    std::uint64_t address;
    std::uint32_t operation;
    std::uint32_t expected;  ///< of the word at the address
};

struct lock_holder {
    std::uint32_t thread = 0;  ///< the kernel's id; 0: unknown
    trace::blocked_lock lock = trace::blocked_lock::unknown;
};

class lock_holders {
public:
    /// Compares the layout with that of locks which the calling thread holds. No holder is found of
    /// locks whose layout differs.
    void learn() noexcept;

    /// Returns a living thread of the process other than `waiter`, or none.
    lock_holder find(const futex_wait_call& call, std::uint32_t waiter) const noexcept;

private:
    bool knows_mutex_ = false;
    bool knows_rwlock_ = false;
};

}  // namespace coroscope::runtime::inline kernel
