// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace coroscope::runtime::inline base {

/// Polls `is_met` until it returns true, for one to two seconds. A stop waits for other threads,
/// but not for a thread that a signal handler holds up, or that jumped out of a handler and will
/// never continue. Returns false on time-out.
template <class Condition>
bool wait_bounded(Condition is_met) noexcept {
    constexpr int most_pauses = 10'000;
    const timespec pause{0, 100'000};
    for (int i = 0; i < most_pauses; ++i) {
        if (is_met()) return true;
        ::nanosleep(&pause, nullptr);
    }
    return is_met();
}

}  // namespace coroscope::runtime::inline base
