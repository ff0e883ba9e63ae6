// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock that a scope may need on its slow path. The holder's signals are blocked, except those of
// faults. So a scope in a signal handler never waits for a lock that the interrupted code holds.
//
// The thread that locked it must unlock it. Several locks must be unlocked in the reverse order.

#include "blocked_signals.hpp"
#include "own_mutex.hpp"

namespace coroscope::runtime::inline base {

class quiet_mutex {
public:
    void lock() noexcept {
        const sigset_t before = block_signals();
        mutex_.lock();
        before_ = before;
    }
    bool try_lock() noexcept {
        const sigset_t before = block_signals();
        if (!mutex_.try_lock()) {
            restore_signals(before);
            return false;
        }
        before_ = before;
        return true;
    }
    void unlock() noexcept {
        const sigset_t before = before_;
        mutex_.unlock();
        restore_signals(before);
    }

private:
    own_mutex mutex_;
    sigset_t before_{};  // the holder's
};

}  // namespace coroscope::runtime::inline base
