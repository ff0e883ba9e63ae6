// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's mutex. Waits for it are not recorded, because they are not the program's.

#include <mutex>

#include "report_guard.hpp"

namespace coroscope::runtime::inline base {

class own_mutex {
public:
    void lock() noexcept {
        const report_guard unreported;
        mutex_.lock();
    }
    bool try_lock() noexcept { return mutex_.try_lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    std::mutex mutex_;
};

}  // namespace coroscope::runtime::inline base
