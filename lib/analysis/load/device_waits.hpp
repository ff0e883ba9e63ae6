// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which suspension a wait for a stream belongs to, and what the stream did in it.

#include <span>

#include "task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// Fills trace::stream_order and what trace::device_waits refer to, and orders these. Of what a stream did,
/// only that counts which had been asked for before the wait. To be called when the activities are in order and
/// know their calls, and the waits their tasks.
void link_device_waits(std::span<const task_op> ops, trace& loaded);

}  // namespace coroscope::analysis::loading
