// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recent cancellations of operations and of awaits. A cancelled operation finds its wake there.

#include <cstdint>

#include "asio_thread.hpp"

namespace coroscope::asio {

/// Writes the wakes of a task whose operation on `object` was cancelled: one for the last
/// cancellation of the object, and one for the last signal to the task's awaits, as far as they are
/// known. The analysis leaves out a wake that is older than the task's suspension.
void write_cancel_wakes(tracked_task& woken, std::uint64_t object) noexcept;

}  // namespace coroscope::asio
