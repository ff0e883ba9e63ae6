// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process's waking thread: see detail/device_wait.hpp.

#include <coroscope/detail/callback_list.hpp>

namespace coroscope::detail {

/// Runs jobs on the waking thread, one after another, in the order of the calls. Any thread. The
/// waking thread must have been started. At the end of the process the remaining jobs are dropped.
void run_on_waking_thread(callback& job) noexcept;

}  // namespace coroscope::detail
