// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the faults of Asio's handler tracking that can be detected only at run time: operations
// without a tracked scheduler, and co_spawns with an unknown protocol. Thread-safe.

#include <atomic>

#include <coroscope/trace/format.hpp>

namespace coroscope::asio {

/// Whether tracked code has made one of Asio's schedulers. Set once.
extern std::atomic<bool> scheduler_seen;

/// Reports that a tracked operation was created whose scheduler is not tracked.
void scheduler_missing() noexcept;

/// Reports that a co_spawn of tracked code ended in a way that this version does not support.
void protocol_unrecognised() noexcept;

/// Returns the fault that was reported: mixed, unrecognised or, if there was none, in_order.
trace::asio_tracking reported_fault() noexcept;

}  // namespace coroscope::asio
