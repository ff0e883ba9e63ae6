// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock that a scope may need on its slow way, and that a signal handler therefore never finds held by the very
// thread that it interrupts: who holds it has its signals put off until then, faults excepted.
//
// Locked and unlocked by one thread; several are unlocked in the reverse order, as guards are.

#include <mutex>

#include "blocked_signals.hpp"

namespace coroscope::runtime {

class quiet_mutex {
public:
    void lock() noexcept {
        const sigset_t before = block_signals();
        mutex_.lock();
        before_ = before;
    }
    void unlock() noexcept {
        const sigset_t before = before_;
        mutex_.unlock();
        restore_signals(before);
    }

private:
    std::mutex mutex_;
    sigset_t before_{};  // the holder's
};

}  // namespace coroscope::runtime
