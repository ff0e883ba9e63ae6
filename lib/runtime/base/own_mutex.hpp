// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's mutex. Waits for it and its releases are not recorded, because they are not the
// program's: a record could begin a session, which needs the mutex.

#include <mutex>

#include "report_guard.hpp"

namespace coroscope::runtime::inline base {

class own_mutex {
public:
    void lock() noexcept {
        const report_guard unreported;
        mutex_.lock();
    }
    bool try_lock() noexcept {
        const report_guard unreported;
        return mutex_.try_lock();
    }
    void unlock() noexcept {
        const report_guard unreported;
        mutex_.unlock();
    }

private:
    std::mutex mutex_;
};

}  // namespace coroscope::runtime::inline base
