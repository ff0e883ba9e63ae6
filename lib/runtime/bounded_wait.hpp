// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace coroscope::runtime {

/// Looks again and again until `is_met` says so, for one second or two: a stop waits for other threads, but not for one that a
/// signal handler keeps where it is, or was left there by a jump out of one. False where that was the end of it.
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

}  // namespace coroscope::runtime
