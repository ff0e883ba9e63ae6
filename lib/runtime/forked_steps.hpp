// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a fork needs of the count of steps (step_tracker.cpp).

namespace coroscope::runtime {

/// Around a fork: the child finds the lock free. An observer of steps may fork, too.
void lock_steps() noexcept;
void unlock_steps() noexcept;

}  // namespace coroscope::runtime
