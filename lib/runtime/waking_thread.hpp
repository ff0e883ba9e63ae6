// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process's waking thread: see detail/device_wait.hpp.

#include <coroscope/detail/callback_list.hpp>

namespace coroscope::detail {

/// Runs jobs on it, one after another, in the order in which they came. Any thread. Precondition: it has been started.
/// At the end of the process what has not run is dropped.
void run_on_waking_thread(callback& job) noexcept;

}  // namespace coroscope::detail
